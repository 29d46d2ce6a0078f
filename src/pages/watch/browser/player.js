import { showCaptions } from './captions.js';
import { addControls } from './controls.js';
import { addKeys } from './keyboard.js';
import { findParts } from './player-parts.js';
import { synchronise } from './synchronise.js';
import { showTimelinePreview } from './timeline.js';

/** Gives pictures side by side the same height. */
function balancePictures() {
  for (const video of document.querySelectorAll('video')) {
    const adjust = () => {
      if (video.videoHeight > 0) video.style.flexGrow = String(video.videoWidth / video.videoHeight);
    };
    video.addEventListener('loadedmetadata', adjust);
    adjust();
  }
}

/** Shows dates in the time zone of the viewer. */
function localiseDates() {
  for (const time of document.querySelectorAll('time[datetime*="T"]')) {
    const date = new Date(time.getAttribute('datetime') ?? '');
    time.textContent = date.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
  }
}

balancePictures();
localiseDates();
for (const player of document.querySelectorAll('[data-player]')) {
  const parts = findParts(player);
  synchronise(parts);
  addControls(parts);
  showCaptions(parts);
  addKeys(parts);
  showTimelinePreview(parts);
}
