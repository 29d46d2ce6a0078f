/**
 * Shows the picture of the moment under the pointer, or the finger, above the position bar. The sheet of pictures is described by the
 * data attributes of the preview (see `Timeline`).
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 *
 * @param clock writes seconds as a time
 */
export function timelinePreview(player: HTMLElement, clock: (seconds: number) => string): void {
  const seek = player.querySelector<HTMLInputElement>('[data-part="seek"]');
  const preview = player.querySelector<HTMLElement>('[data-part="preview"]');
  const [picture, label] = preview?.children ?? [];
  if (!seek || !preview || !(picture instanceof HTMLElement) || !(label instanceof HTMLElement)) return;
  const { sheet, count, columns, rows, width, height, interval } = preview.dataset;

  if (sheet) {
    picture.style.width = `${width}px`;
    picture.style.height = `${height}px`;
    picture.style.backgroundSize = `${Number(columns) * Number(width)}px ${Number(rows) * Number(height)}px`;
  }
  const show = (event: PointerEvent) => {
    const box = seek.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    const seconds = share * Number(seek.max);
    label.textContent = clock(seconds);
    if (sheet) {
      const tile = Math.min(Number(count) - 1, Math.floor((seconds * 1000) / Number(interval)));
      const [column, row] = [tile % Number(columns), Math.floor(tile / Number(columns))];
      // Only now, so that who never looks does not load it.
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
  for (const event of ['pointerdown', 'pointermove'] as const) seek.addEventListener(event, show);
  for (const event of ['pointerleave', 'pointercancel']) seek.addEventListener(event, hide);
  seek.addEventListener('pointerup', ({ pointerType }) => {
    if (pointerType !== 'mouse') hide();
  });
}
