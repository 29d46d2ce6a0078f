import { showCaptions } from './captions.js';
import { showChapters } from './chapters.js';
import { addControls } from './controls.js';
import { addKeys } from './keyboard.js';
import { addOtherScreens } from './other-screens.js';
import { addPanels } from './panels.js';
import { addLayouts } from './picture-layout.js';
import { findParts } from './player-parts.js';
import { addQualityChoice } from './quality-choice.js';
import { addShare } from './share.js';
import { startTime } from './start-time.js';
import { addStreams } from './streams.js';
import { synchronise } from './synchronise.js';
import { showTimelinePreview } from './timeline.js';
import { countView } from './view-count.js';

/** Gives pictures side by side the same height. */
function balancePictures() {
  for (const video of document.querySelectorAll('video')) {
    const adjust = () => {
      // The attributes say it before the picture is loaded.
      const [width, height] =
        video.videoHeight > 0 ? [video.videoWidth, video.videoHeight] : [video.width, video.height];
      if (height > 0) video.style.flexGrow = String(width / height);
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
  const streams = addStreams(parts);
  const start = startTime(new URL(location.href));
  if (start !== undefined) parts.leader.currentTime = start;
  synchronise(parts);
  addControls(parts);
  addPanels(parts);
  addQualityChoice(parts, streams);
  addLayouts(parts, streams.onLayout);
  addShare(parts);
  addOtherScreens(parts);
  showCaptions(parts);
  addKeys(parts);
  countView(parts);
  showTimelinePreview(parts, showChapters(parts));
}
