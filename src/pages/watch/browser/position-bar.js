/** @import { PlayerParts } from './player-parts.js' */
import { clock } from './clock.js';
import { findPart } from './player-parts.js';

const TIMEOUT_MS = 1000;
const STEP_SECONDS = 5;
/** @type {Readonly<Record<string, number>>} */
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

/** Shows and changes the position of the leader. @param {PlayerParts} parts */
export function addPositionBar({ player, leader, seek }) {
  const time = findPart(player, 'time', HTMLElement);
  const { place, goTo } = createSeeker(leader);
  const show = () => {
    if (Number.isFinite(leader.duration)) seek.max = String(leader.duration);
    seek.value = String(place());
    const [now, all] = [clock(place()), clock(Number(seek.max))];
    seek.setAttribute('aria-valuetext', `${now} of ${all}`);
    time.textContent = `${now} / ${all}`;
    player.style.setProperty('--position', String(fillRange(seek)));
  };
  seek.addEventListener('input', () => {
    goTo(Number(seek.value));
    show();
  });
  seek.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    seek.valueAsNumber = place() + step * STEP_SECONDS;
    seek.dispatchEvent(new Event('input'));
  });
  for (const event of ['timeupdate', 'seeking', 'durationchange']) leader.addEventListener(event, show);
  show();
}

/** Colours a range up to its value. @param {HTMLInputElement} range @returns the share of the maximum */
export function fillRange(range) {
  const share = Number(range.max) > 0 ? Number(range.value) / Number(range.max) : 0;
  range.style.setProperty('--share', String(share));
  return share;
}

/**
 * Seeks to one position at a time: Chromium sometimes never finishes seeking if the position changes before it arrives.
 * The last requested position wins. A position that is never reached delays the next one for a second.
 *
 * @param {HTMLMediaElement} media
 */
function createSeeker(media) {
  /** @type {number | undefined} */
  let next;
  /** @type {number | undefined} */
  let timer;

  const move = () => {
    clearTimeout(timer);
    if (next !== undefined) media.currentTime = next;
    next = undefined;
  };
  media.addEventListener('seeked', () => {
    // The next seek may already have started.
    if (!media.seeking) move();
  });
  return {
    /** Returns the current or requested position in seconds. */
    place: () => next ?? media.currentTime,
    /** @param {number} seconds */
    goTo(seconds) {
      const isWaiting = next !== undefined;
      next = seconds;
      if (!media.seeking) move();
      else if (!isWaiting) timer = window.setTimeout(move, TIMEOUT_MS);
    },
  };
}
