/** @import { PlayerParts } from './player-parts.js' */
import { clock } from './clock.js';
import { findPart } from './player-parts.js';

/**
 * Shows a preview of the position under the pointer, as the data attributes describe it.
 *
 * @param {PlayerParts} parts
 * @param {(seconds: number) => string} chapterAt the title of a chapter
 */
export function showTimelinePreview({ player, seek }, chapterAt) {
  const preview = findPart(player, 'preview', HTMLElement);
  const [picture, label] = preview.children;
  if (!(picture instanceof HTMLElement) || !(label instanceof HTMLElement)) return;
  const { sheet, width, height } = preview.dataset;
  const [columns, rows] = [Number(preview.dataset.columns), Number(preview.dataset.rows)];
  const [count, intervalMs] = [Number(preview.dataset.count), Number(preview.dataset.interval)];

  if (sheet) {
    picture.style.width = `${width}px`;
    picture.style.height = `${height}px`;
    picture.style.backgroundSize = `${columns * Number(width)}px ${rows * Number(height)}px`;
  }
  const show = (/** @type {PointerEvent} */ event) => {
    const box = seek.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    const seconds = share * Number(seek.max);
    label.textContent = `${clock(seconds)} ${chapterAt(seconds)}`.trim();
    if (sheet) {
      const tile = Math.min(count - 1, Math.floor((seconds * 1000) / intervalMs));
      const [column, row] = [tile % columns, Math.floor(tile / columns)];
      // The sheet is loaded only when it is first shown.
      picture.style.backgroundImage = `url("${sheet}")`;
      picture.style.backgroundPosition = `-${column * Number(width)}px -${row * Number(height)}px`;
    }
    preview.hidden = false;
    const half = preview.offsetWidth / 2;
    preview.style.left = `${Math.max(half, Math.min(box.width - half, share * box.width))}px`;
  };
  const hide = () => {
    preview.hidden = true;
  };
  seek.addEventListener('pointerdown', show);
  seek.addEventListener('pointermove', show);
  for (const event of ['pointerleave', 'pointercancel']) seek.addEventListener(event, hide);
  seek.addEventListener('pointerup', ({ pointerType }) => {
    if (pointerType !== 'mouse') hide();
  });
}
