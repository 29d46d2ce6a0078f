import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import { flavorOf } from '#publications/model.ts';
import { barHtml, icon } from './bar.ts';
import type { FileAddress, PlayedMedia, Player } from './recording.ts';

/**
 * The recording with its controls. Without the page's script each of the media shows the browser's own.
 */
export function playerHtml(player: Player, addressOf: FileAddress): Html {
  const { screens, sound, imageUrl } = player;
  return html`<section class="player" data-player aria-label="Player">
<div class="screens" data-part="screens">
${screens.map((screen) => videoHtml(screen, player, addressOf))}
${screens.length === 0 && imageUrl ? html`<div class="wave"><img src="${imageUrl}" alt=""></div>` : ''}
${screens.length === 0 && !imageUrl ? html`<p class="listen">This recording has sound only.</p>` : ''}
${sound ? html`<audio ${mediaAttributes(sound, addressOf)}>${tracksHtml(sound, player)}</audio>` : ''}
<button type="button" class="start" data-part="start" aria-label="Start" hidden>${icon('play')}</button>
<div class="cues" data-part="cues"></div>
</div>
<p class="notice" data-part="notice" role="alert" hidden></p>
${barHtml(player)}
</section>`;
}

function videoHtml(screen: PlayedMedia, player: Player, addressOf: FileAddress): Html {
  const { width, height } = screen.element;
  return html`<video ${mediaAttributes(screen, addressOf)} playsinline${
    screen.posterUrl ? html` poster="${screen.posterUrl}"` : ''
  }${width && height ? html` width="${width}" height="${height}"` : ''} aria-label="${labelOf(screen.element.flavor)}">${tracksHtml(screen, player)}</video>`;
}

function mediaAttributes({ element, leads, heard }: PlayedMedia, addressOf: FileAddress): Html {
  return html`src="${addressOf(element)}" controls preload="metadata" ${raw(
    [leads ? 'data-leader' : 'data-follower', heard ? 'data-sound' : 'muted'].join(' '),
  )}`;
}

function tracksHtml({ leads }: PlayedMedia, { captions }: Player): Html | '' {
  if (!leads || captions.length === 0) return '';
  return html`${captions.map(
    ({ url, language, label }) =>
      html`<track kind="captions" src="${url}"${language ? html` srclang="${language}"` : ''} label="${label}">`,
  )}`;
}

/** What a person calls media of a flavor: `presenter/delivery` is the presenter. */
export function labelOf(flavor: string): string {
  const { type } = flavorOf({ flavor });
  return type.charAt(0).toUpperCase() + type.slice(1);
}
