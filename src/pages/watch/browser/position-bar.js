/** @import { PlayerParts } from './player-parts.js' */
import { clock } from './clock.js';
import { findPart } from './player-parts.js';

const PATIENCE_MS = 1000;
const STEP_SECONDS = 5;
/** @type {Readonly<Record<string, number>>} */
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

/**
 * Shows where the leader of a player is, and moves it there.
 *
 * @param {PlayerParts} parts
 */
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

/**
 * Colours a range up to its value.
 *
 * @param {HTMLInputElement} range
 * @returns its value as a share of what it can be
 */
export function fillRange(range) {
  const share = Number(range.max) > 0 ? Number(range.value) / Number(range.max) : 0;
  range.style.setProperty('--share', String(share));
  return share;
}

/**
 * Moves a medium to one place at a time: Chromium, asked for another place while it moves to one, sometimes never
 * arrives. Of several places asked for while it moves, the last one counts, and a place that cannot be reached does not
 * delay the next one for long.
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
    // It may move again before this event arrives.
    if (!media.seeking) move();
  });
  return {
    /** Returns where the medium is, or will be as soon as it can, in seconds. */
    place: () => next ?? media.currentTime,
    /** @param {number} seconds */
    goTo(seconds) {
      const isWaiting = next !== undefined;
      next = seconds;
      if (!media.seeking) move();
      else if (!isWaiting) timer = window.setTimeout(move, PATIENCE_MS);
    },
  };
}
