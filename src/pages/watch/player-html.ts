import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import { flavorOf } from '#publications/publication.ts';
import type { FileAddress } from '../urls/relative-urls.ts';
import { clock } from './browser/clock.js';
import type { PlayedMedia, Player } from './player-media.ts';

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

const ICONS = {
  play: 'M8 5v14l11-7z',
  pause: 'M6 5h4v14H6zm8 0h4v14h-4z',
  sound: 'M4 9v6h4l5 5V4L8 9zm11-1.5v9a5 5 0 0 0 0-9zm0-4.2v2.1a7 7 0 0 1 0 13.2v2.1a9 9 0 0 0 0-17.4z',
  silence:
    'M4 9v6h4l5 5V4L8 9zm17.5.9-1.4-1.4-2.1 2.1-2.1-2.1-1.4 1.4 2.1 2.1-2.1 2.1 1.4 1.4 2.1-2.1 2.1 2.1 1.4-1.4-2.1-2.1z',
  captions: 'M3 5h18v14H3zM6 9v6h5v-1.7H7.7v-2.6H11V9zm7 0v6h5v-1.7h-3.3v-2.6H18V9z',
  fullscreen: 'M5 5h6v2H7v4H5zm8 0h6v6h-2V7h-4zM5 13h2v4h4v2H5zm12 0h2v6h-6v-2h4z',
};

/** The recording with its controls. Without scripts, each medium shows the controls of the browser. */
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

/** Formats a flavor: `presenter/delivery` becomes `Presenter`. */
export function labelOf(flavor: string): string {
  const { type } = flavorOf({ flavor });
  return type.charAt(0).toUpperCase() + type.slice(1);
}

/** The controls below a recording, hidden until the script starts. */
function barHtml({ duration, timeline, captions }: Player): Html {
  const seconds = duration / 1000;
  return html`<div class="bar" data-part="bar" hidden>
<div class="seek">
<input type="range" data-part="seek" aria-label="Position" min="0" max="${seconds}" step="0.01" value="0">
<div class="preview" data-part="preview" aria-hidden="true" hidden${
    timeline
      ? html` data-sheet="${timeline.url}" data-count="${timeline.imageCount}" data-columns="${timeline.columns}" data-rows="${timeline.rows}" data-width="${timeline.tileWidth}" data-height="${timeline.tileHeight}" data-interval="${timeline.intervalMs}"`
      : ''
  }><div></div><span></span></div>
</div>
<div class="buttons">
<button type="button" data-part="play" aria-label="Play" aria-keyshortcuts="k Space" title="Play or pause (k)">${icon('play', 'is-paused')}${icon('pause', 'is-playing')}</button>
<button type="button" data-part="mute" aria-label="Turn the sound off" aria-keyshortcuts="m" title="Sound (m)">${icon('sound', 'is-on')}${icon('silence', 'is-off')}</button>
<input type="range" data-part="volume" aria-label="Volume" min="0" max="1" step="0.05" value="1">
<p class="time" data-part="time">0:00 / ${clock(seconds)}</p>
${captions.length > 0 ? captionsHtml(captions) : ''}
<select data-part="rate" aria-label="Speed" title="Speed (&lt; and &gt;)">${RATES.map(
    (rate) => html`<option value="${rate}"${rate === 1 ? raw(' selected') : ''}>${rate}×</option>`,
  )}</select>
<button type="button" data-part="fullscreen" aria-label="Full screen" aria-keyshortcuts="f" title="Full screen (f)">${icon('fullscreen')}</button>
</div>
<p class="unseen" data-part="status" role="status"></p>
</div>`;
}

function captionsHtml(captions: Player['captions']): Html {
  const only = captions.length === 1 ? `: ${captions[0]?.label}` : '';
  return html`<button type="button" data-part="captions" aria-label="Captions" aria-pressed="false" aria-keyshortcuts="c" title="Captions${only} (c)">${icon('captions')}</button>
<select data-part="language" aria-label="Language of the captions"${only ? raw(' hidden') : ''}>${captions.map(
    ({ label }) => html`<option>${label}</option>`,
  )}</select>`;
}

function icon(name: keyof typeof ICONS, className = ''): Html {
  return html`<svg viewBox="0 0 24 24" class="${className}" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
}
