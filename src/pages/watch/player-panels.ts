import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import type { FileAddress } from '../urls/relative-urls.ts';
import { icon } from './player-icons.ts';
import type { Player } from './player-media.ts';

/** The addresses that a player names, relative to its page. */
export interface PlayerLinks {
  addressOf: FileAddress;
  /** The page to share; undefined for that of the player. */
  watch?: string | undefined;
  /** The page for frames; undefined to offer no snippet. */
  embed?: string | undefined;
  /** The address that counts a view; undefined to count none. */
  views?: string | undefined;
}

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

/** The button of the settings, and their panel. The script fills in the qualities. */
export function settingsHtml({ screens, captions }: Player): Html {
  return html`<button type="button" aria-label="Settings" aria-expanded="false" aria-controls="settings" title="Settings">${icon('settings')}</button>
<div class="panel" id="settings" role="group" aria-label="Settings" hidden>
<label hidden>Quality <select data-part="quality"></select></label>
<label>Speed <select data-part="rate" title="Speed (&lt; and &gt;)">${RATES.map(
    (rate) => html`<option value="${rate}"${rate === 1 ? raw(' selected') : ''}>${rate}×</option>`,
  )}</select></label>
${captions.length > 1 ? html`<label>Captions ${languagesHtml(captions)}</label>` : languagesHtml(captions)}
${screens.length === 2 ? LAYOUTS : ''}
<label>Keyboard shortcuts <input type="checkbox" data-part="shortcuts" checked></label>
</div>`;
}

/** The button of the chapters, and their panel. The script fills in the list. */
export function chaptersHtml(): Html {
  return html`<button type="button" data-part="chapters-button" aria-label="Chapters" aria-expanded="false" aria-controls="chapters" title="Chapters" hidden>${icon('chapters')}</button>
<div class="panel" id="chapters" role="group" aria-label="Chapters" hidden><ol data-part="chapters"></ol></div>`;
}

function languagesHtml(captions: Player['captions']): Html | '' {
  if (captions.length === 0) return '';
  return html`<select data-part="language" aria-label="Language of the captions"${raw(captions.length === 1 ? ' hidden' : '')}>${captions.map(
    ({ label }) => html`<option>${label}</option>`,
  )}</select>`;
}

const LAYOUTS = html`<label>Layout <select data-part="layout" title="Layout (v)">
<option value="side">Side by side</option>
<option value="corner">One in the corner</option>
</select></label>
<button type="button" class="wide" data-part="swap" aria-label="Swap pictures" aria-pressed="false" aria-keyshortcuts="s" title="Swap pictures (s)">Swap pictures</button>`;

/** The button for links to the recording, and its panel. The script fills in the links. */
export function shareHtml({ watch = '', embed }: PlayerLinks): Html {
  return html`<button type="button" aria-label="Share" aria-expanded="false" aria-controls="share" title="Share">${icon('share')}</button>
<div class="panel share" id="share" role="group" aria-label="Share" data-part="share" data-watch="${watch}"${
    embed ? html` data-embed="${embed}"` : ''
  } hidden>
<label><span data-part="link-label">Link</span> <input type="text" data-part="link" readonly></label>
<button type="button" class="wide" data-part="copy-link">Copy link at this time</button>
${
  embed
    ? html`<label>Embed code <input type="text" data-part="embed" readonly></label>
<button type="button" class="wide" data-part="copy-embed">Copy embed code</button>`
    : ''
}
<p data-part="copied" role="status"></p>
</div>`;
}
