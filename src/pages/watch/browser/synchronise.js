/** @import { PlayerParts } from './player-parts.js' */

const IGNORED_SECONDS = 0.05;
/** The last picture is shown after a jump to so many seconds before the end; after one to the very end, none is. */
const LAST_SECONDS = 0.04;
/** A jump shows no picture for a moment, for long if it must be loaded. */
const JUMP_SECONDS = { loaded: 0.4, unloaded: 1.5 };
const JUMP_PAUSE_MS = 3000;
const LEADING = ['play', 'playing', 'pause', 'waiting', 'seeking', 'seeked', 'ratechange', 'timeupdate'];

/**
 * Keeps the followers in step with the leader. A small drift is corrected by the playback rate, a large one by a jump.
 *
 * @param {PlayerParts} parts
 */
export function synchronise({ leader, followers }) {
  for (const follower of followers) {
    const update = createUpdate(leader, follower);
    for (const event of LEADING) leader.addEventListener(event, update);
    for (const event of ['loadedmetadata', 'canplay', 'seeked']) follower.addEventListener(event, update);
  }
}

/** @param {HTMLMediaElement} leader @param {HTMLMediaElement} follower */
function createUpdate(leader, follower) {
  let jumpedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (follower.readyState === 0) return;
    const isOver = leader.currentTime >= follower.duration;
    const isStill = leader.paused || leader.seeking || leader.readyState < 3 || isOver;
    if (isStill && !follower.paused) follower.pause();
    // A browser may refuse to play; the next event tries again.
    if (!isStill && follower.paused) follower.play().catch(() => undefined);

    const target = Math.min(leader.currentTime, Math.max(0, follower.duration - LAST_SECONDS));
    const drift = follower.currentTime - target;
    const distance = Math.abs(drift);
    const hasJumped = performance.now() - jumpedAt < JUMP_PAUSE_MS;
    const jumpSeconds = isLoaded(follower, target) ? JUMP_SECONDS.loaded : JUMP_SECONDS.unloaded;
    if (distance > IGNORED_SECONDS && (isStill || (distance > jumpSeconds && !hasJumped))) {
      if (follower.seeking) return;
      jumpedAt = performance.now();
      follower.currentTime = target;
      follower.playbackRate = leader.playbackRate;
    } else {
      const correction = distance > IGNORED_SECONDS ? Math.max(-0.5, Math.min(0.5, 2 * drift)) : 0;
      follower.playbackRate = leader.playbackRate * (1 - correction);
    }
  };
}

/** @param {HTMLMediaElement} media @param {number} time */
function isLoaded({ buffered }, time) {
  return [...Array(buffered.length).keys()].some(
    (range) => buffered.start(range) <= time && time < buffered.end(range),
  );
}
