import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import { flavorOf } from '#publications/publication.ts';
import type { FileAddress } from '../urls/relative-urls.ts';
import { clock } from './browser/clock.js';
import { icon } from './player-icons.ts';
import type { PlayedMedia, Player } from './player-media.ts';
import { chaptersHtml, type PlayerLinks, settingsHtml, shareHtml } from './player-panels.ts';

/** The recording with its controls. Without scripts, each medium shows the controls of the browser. */
export function playerHtml(player: Player, links: PlayerLinks): Html {
  const { addressOf, views } = links;
  const { screens, sound, imageUrl } = player;
  return html`<section class="player" data-player${views ? html` data-views="${views}"` : ''} aria-label="Player">
<div class="screens" data-part="screens">
${screens.map((screen) => videoHtml(screen, player, addressOf))}
${screens.length === 0 && imageUrl ? html`<div class="wave"><img src="${imageUrl}" alt=""></div>` : ''}
${screens.length === 0 && !imageUrl ? html`<p class="listen">This recording has sound only.</p>` : ''}
${sound ? html`<audio ${mediaAttributes(sound, addressOf)}>${tracksHtml(sound, player)}</audio>` : ''}
<button type="button" class="start" data-part="start" aria-label="Start" hidden>${icon('play')}</button>
<div class="cues" data-part="cues"></div>
</div>
<p class="notice" data-part="notice" role="alert" hidden></p>
${barHtml(player, links)}
</section>`;
}

/** The scripts of the player, which run after the page is parsed. @param root the URL of the server's root */
export function playerScripts(root: string): Html {
  const script = (name: string) => html`<script type="module" src="${root}watch/assets/${name}"></script>`;
  return html`${script('hls-library.js')}${script('player.js')}`;
}

function videoHtml(screen: PlayedMedia, player: Player, addressOf: FileAddress): Html {
  const { width, height } = screen.element;
  return html`<video ${mediaAttributes(screen, addressOf)} playsinline${
    screen.posterUrl ? html` poster="${screen.posterUrl}"` : ''
  }${width && height ? html` width="${width}" height="${height}"` : ''} aria-label="${labelOf(screen.element.flavor)}"${raw(
    screen === smallOf(player) ? ' data-small' : '',
  )}>${tracksHtml(screen, player)}</video>`;
}

/** Returns the picture that lies in the corner of the other, unless the viewer swaps them: the presenter. */
function smallOf({ screens }: Player): PlayedMedia | undefined {
  return screens.find(({ element }) => flavorOf(element).type === 'presenter') ?? screens[1];
}

function mediaAttributes(media: PlayedMedia, addressOf: FileAddress): Html {
  const { element, leads, heard, playlistUrl, renditions } = media;
  // In a frame without `allow-same-origin`, captions and chapters load with CORS only. The script loads a playlist instead of
  // the file.
  return html`src="${addressOf(element)}" crossorigin controls preload="${playlistUrl ? 'none' : 'metadata'}"${
    playlistUrl ? html` data-playlist="${playlistUrl}"` : ''
  } data-renditions="${JSON.stringify(renditions)}" ${raw(
    [leads ? 'data-leader' : 'data-follower', heard ? 'data-sound' : 'muted'].join(' '),
  )}`;
}

function tracksHtml({ leads }: PlayedMedia, { captions, chaptersUrl }: Player): Html | '' {
  if (!leads) return '';
  return html`${captions.map(
    ({ url, language, label }) =>
      html`<track kind="captions" src="${url}"${language ? html` srclang="${language}"` : ''} label="${label}">`,
  )}${chaptersUrl ? html`<track kind="chapters" src="${chaptersUrl}">` : ''}`;
}

/** Formats a flavor: `presenter/delivery` becomes `Presenter`. */
export function labelOf(flavor: string): string {
  const { type } = flavorOf({ flavor });
  return type.charAt(0).toUpperCase() + type.slice(1);
}

/** The controls below a recording, hidden until the script starts. */
function barHtml(player: Player, links: PlayerLinks): Html {
  const { duration, timeline, captions } = player;
  const seconds = duration / 1000;
  return html`<div class="bar" data-part="bar" hidden>
<div class="seek">
<input type="range" data-part="seek" aria-label="Position" min="0" max="${seconds}" step="0.01" value="0">
<div class="marks" data-part="marks" aria-hidden="true"></div>
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
${player.chaptersUrl ? chaptersHtml() : ''}
${captions.length > 0 ? captionsHtml(captions) : ''}
${settingsHtml(player)}
${shareHtml(links)}
<button type="button" data-part="remote" aria-label="Play on another device" title="Play on another device" hidden>${icon('remote')}</button>
<button type="button" data-part="pip" aria-label="Picture in picture" aria-pressed="false" aria-keyshortcuts="p" title="Picture in picture (p)" hidden>${icon('pip')}</button>
<button type="button" data-part="fullscreen" aria-label="Full screen" aria-keyshortcuts="f" title="Full screen (f)">${icon('fullscreen')}</button>
</div>
<p class="unseen" data-part="status" role="status"></p>
</div>`;
}

function captionsHtml(captions: Player['captions']): Html {
  const only = captions.length === 1 ? `: ${captions[0]?.label}` : '';
  return html`<button type="button" data-part="captions" aria-label="Captions" aria-pressed="false" aria-keyshortcuts="c" title="Captions${only} (c)">${icon('captions')}</button>`;
}
