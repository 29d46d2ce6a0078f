/** @import { PlayerParts } from './player-parts.js' */
import { clock } from './clock.js';
import { findPart } from './player-parts.js';

/**
 * Lists the chapters of a recording, and marks where they begin on the position bar.
 *
 * @param {PlayerParts} parts
 * @returns {(seconds: number) => string} the title of the chapter at a position; empty without one
 */
export function showChapters({ player, leader, seek }) {
  const source = leader.querySelector('track[kind="chapters"]');
  /** @type {{ begin: number, title: string, button: HTMLButtonElement }[]} */
  let chapters = [];
  const chapterAt = (/** @type {number} */ seconds) => chapters.findLast(({ begin }) => begin <= seconds);
  const show = () => {
    const present = chapterAt(Number(seek.value));
    for (const { button } of chapters) button.ariaCurrent = present?.button === button ? 'true' : null;
  };
  if (source instanceof HTMLTrackElement) {
    source.addEventListener('load', () => {
      chapters = [...(source.track.cues ?? [])].map((cue) => {
        const title = cue instanceof VTTCue ? (cue.getCueAsHTML().textContent ?? '') : '';
        return { begin: cue.startTime, title, button: chapterButton(cue.startTime, title, seek) };
      });
      findPart(player, 'chapters', HTMLElement).replaceChildren(...chapters.map(({ button }) => listItem(button)));
      findPart(player, 'marks', HTMLElement).replaceChildren(...chapters.flatMap(({ begin }) => markAt(begin, seek)));
      findPart(player, 'chapters-button', HTMLButtonElement).hidden = chapters.length === 0;
      show();
    });
    // Browsers load a hidden track and draw nothing.
    source.track.mode = 'hidden';
    for (const event of ['timeupdate', 'seeking']) leader.addEventListener(event, show);
  }
  return (seconds) => chapterAt(seconds)?.title ?? '';
}

/** @param {number} begin @param {string} title @param {HTMLInputElement} seek */
function chapterButton(begin, title, seek) {
  const button = document.createElement('button');
  const time = document.createElement('time');
  const name = document.createElement('bdi');
  time.textContent = clock(begin);
  name.textContent = title;
  button.type = 'button';
  button.append(time, name);
  button.addEventListener('click', () => {
    seek.valueAsNumber = begin;
    seek.dispatchEvent(new Event('input'));
  });
  return button;
}

/** @param {HTMLButtonElement} button */
function listItem(button) {
  const item = document.createElement('li');
  item.append(button);
  return item;
}

/** @param {number} begin @param {HTMLInputElement} seek */
function markAt(begin, seek) {
  const share = begin / Number(seek.max);
  if (!(share > 0 && share < 1)) return [];
  const mark = document.createElement('span');
  mark.style.left = `${share * 100}%`;
  return [mark];
}
