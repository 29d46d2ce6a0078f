/** @import { PlayerParts } from './player-parts.js' */
import { findPart } from './player-parts.js';

/** Shows the picture in a window above others, or on another device, where the browser can. @param {PlayerParts} parts */
export function addOtherScreens(parts) {
  addPictureInPicture(parts);
  addRemotePlayback(parts);
}

/** @param {PlayerParts} parts */
function addPictureInPicture({ player }) {
  const button = findPart(player, 'pip', HTMLButtonElement);
  const videos = [...player.querySelectorAll('video')];
  button.hidden = videos.length === 0 || !document.pictureInPictureEnabled;
  button.addEventListener('click', () => {
    const large = videos.find((video) => 'leader' in video.dataset && !video.classList.contains('is-small'));
    const video = large ?? videos.find(({ classList }) => !classList.contains('is-small'));
    const change = document.pictureInPictureElement
      ? document.exitPictureInPicture()
      : video?.requestPictureInPicture();
    change?.catch(() => undefined);
  });
  for (const video of videos) {
    for (const event of ['enterpictureinpicture', 'leavepictureinpicture']) {
      video.addEventListener(event, () => {
        button.setAttribute('aria-pressed', String(document.pictureInPictureElement !== null));
      });
    }
  }
}

/**
 * @typedef {object} AirPlay
 * @property {() => void} [webkitShowPlaybackTargetPicker]
 */

/** @param {PlayerParts} parts */
function addRemotePlayback({ player, leader }) {
  const button = findPart(player, 'remote', HTMLButtonElement);
  /** @type {HTMLMediaElement & AirPlay} */
  const media = leader;
  if (media.webkitShowPlaybackTargetPicker) {
    button.addEventListener('click', () => media.webkitShowPlaybackTargetPicker?.());
    media.addEventListener('webkitplaybacktargetavailabilitychanged', (event) => {
      button.hidden = !('availability' in event && event.availability === 'available');
    });
    return;
  }
  if (!('remote' in media)) return;
  button.addEventListener('click', () => media.remote.prompt().catch(() => undefined));
  const show = (/** @type {boolean} */ isAvailable) => {
    button.hidden = !isAvailable;
  };
  // Some browsers cannot watch, and cannot cast what a script feeds.
  media.remote.watchAvailability(show).catch(() => undefined);
}
