/**
 * Counts one view when the recording first plays. The type makes browsers name the origin, which pages without a referrer
 * would hide.
 *
 * @param {import('./player-parts.js').PlayerParts} parts
 */
export function countView({ player, leader }) {
  const url = player.dataset.views;
  if (url === undefined) return;
  const send = () => navigator.sendBeacon(url, new Blob([], { type: 'application/json' }));
  leader.addEventListener('playing', send, { once: true });
}
