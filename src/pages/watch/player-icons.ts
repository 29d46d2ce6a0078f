import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';

const ICONS = {
  play: 'M8 5v14l11-7z',
  pause: 'M6 5h4v14H6zm8 0h4v14h-4z',
  sound: 'M4 9v6h4l5 5V4L8 9zm11-1.5v9a5 5 0 0 0 0-9zm0-4.2v2.1a7 7 0 0 1 0 13.2v2.1a9 9 0 0 0 0-17.4z',
  silence:
    'M4 9v6h4l5 5V4L8 9zm17.5.9-1.4-1.4-2.1 2.1-2.1-2.1-1.4 1.4 2.1 2.1-2.1 2.1 1.4 1.4 2.1-2.1 2.1 2.1 1.4-1.4-2.1-2.1z',
  chapters: 'M4 5h2v2H4zm4 0h12v2H8zm-4 6h2v2H4zm4 0h12v2H8zm-4 6h2v2H4zm4 0h12v2H8z',
  captions: 'M3 5h18v14H3zM6 9v6h5v-1.7H7.7v-2.6H11V9zm7 0v6h5v-1.7h-3.3v-2.6H18V9z',
  settings:
    'M10.3 3h3.4l.5 2.7c.6.2 1.2.6 1.8 1l2.6-.9 1.7 2.9-2.1 1.8a7 7 0 0 1 0 2l2.1 1.8-1.7 2.9-2.6-.9a7 7 0 0 1-1.8 1l-.5 2.7h-3.4l-.5-2.7a7 7 0 0 1-1.8-1l-2.6.9-1.7-2.9 2.1-1.8a7 7 0 0 1 0-2L3.7 7.7l1.7-2.9 2.6.9c.6-.4 1.2-.8 1.8-1zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  share: 'M14 4l7 7-7 7v-4.2c-5 0-8.5 1.6-11 5.200 1-5 4-10 11-11z',
  pip: 'M3 5h18v14H3zm2 2v10h14V7zm6 4h7v5h-7z',
  remote: 'M3 5h18v12h-4v-2h2V7H5v8h2v2H3zm9 8 5 6H7z',
  fullscreen: 'M5 5h6v2H7v4H5zm8 0h6v6h-2V7h-4zM5 13h2v4h4v2H5zm12 0h2v6h-6v-2h4z',
};

/** Draws an icon of the player, for buttons with a name. */
export function icon(name: keyof typeof ICONS, className = ''): Html {
  return html`<svg viewBox="0 0 24 24" class="${className}" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
}
