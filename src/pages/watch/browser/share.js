/** @import { PlayerParts } from './player-parts.js' */
import { clock } from './clock.js';
import { findPart } from './player-parts.js';
import { withStartTime } from './start-time.js';

/** The features that the player needs in a frame. */
export const FRAME_FEATURES = 'fullscreen; picture-in-picture; clipboard-write';

/** Offers the address of the recording at its present position, and a snippet for other sites. @param {PlayerParts} parts */
export function addShare({ player, leader }) {
  const panel = findPart(player, 'share', HTMLElement);
  const { watch, embed } = panel.dataset;
  const link = findPart(player, 'link', HTMLInputElement);
  const label = findPart(player, 'link-label', HTMLElement);
  const showLink = () => {
    const seconds = leader.currentTime;
    link.value = withStartTime(new URL(watch || location.href, document.baseURI), seconds);
    label.textContent = seconds >= 1 ? `Link at ${clock(seconds)}` : 'Link';
  };
  panel.addEventListener('open', showLink);
  findPart(player, 'copy-link', HTMLButtonElement).addEventListener('click', showLink);
  addCopyButton(player, 'copy-link', link);
  if (!embed) return;
  const code = findPart(player, 'embed', HTMLInputElement);
  code.value = embedCode(new URL(embed, document.baseURI), document.title);
  addCopyButton(player, 'copy-embed', code);
}

/** @param {HTMLElement} player @param {string} name @param {HTMLInputElement} field */
function addCopyButton(player, name, field) {
  const status = findPart(player, 'copied', HTMLElement);
  findPart(player, name, HTMLButtonElement).addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      status.textContent = 'Copied.';
    } catch {
      // Browsers offer the clipboard only to pages that HTTPS protects.
      field.select();
      status.textContent = document.execCommand('copy') ? 'Copied.' : 'Press Ctrl+C to copy.';
    }
  });
}

/** Returns a snippet as wide as the page around it. @param {URL} address @param {string} title */
export function embedCode(address, title) {
  const escaped = (/** @type {string} */ text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const attributes = {
    src: address.href,
    title,
    style: 'width: 100%; aspect-ratio: 16 / 9; border: 0',
    allow: FRAME_FEATURES,
  };
  const text = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  return `<iframe${text.join('')} allowfullscreen></iframe>`;
}
