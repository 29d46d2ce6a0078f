/**
 * @typedef {object} Load A finished or abandoned download.
 * @property {number} bytes
 * @property {number} start in milliseconds
 * @property {number} end in milliseconds
 */

/** So few that a change of the line shows soon. */
const LOADS = 4;

/** Measures the bit rate of the line from all downloads of a page, of which several may run at the same time. */
export class LineMeter {
  /** @type {Load[]} */
  #loads = [];

  /** @param {Load} load */
  add(load) {
    if (load.bytes <= 0 || load.end <= load.start) return;
    this.#loads = [...this.#loads, load].slice(-LOADS);
  }

  /** Returns bits per second; undefined before the first download. */
  get bitsPerSecond() {
    const busyMs = busyTime(this.#loads);
    if (busyMs === 0) return undefined;
    return (this.#loads.reduce((sum, { bytes }) => sum + bytes * 8, 0) * 1000) / busyMs;
  }
}

/** Returns the time during which at least one download ran. @param {readonly Load[]} loads */
function busyTime(loads) {
  let sum = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const { start, end } of loads.toSorted((a, b) => a.start - b.start)) {
    sum += Math.max(0, end - Math.max(start, last));
    last = Math.max(last, end);
  }
  return sum;
}

/**
 * Divides the line between the leader and its followers, in bits per second. The leader may use all but what the lowest
 * renditions of the followers need, and at least an equal part: with nothing, a chosen quality would never be loaded. The
 * followers share what the leader leaves.
 *
 * @param {object} demand
 * @param {number} demand.line
 * @param {number} demand.leaderUses the bit rate of the leader's present rendition
 * @param {readonly number[]} demand.followersNeed the bit rates of the followers' lowest renditions
 * @returns {{ leader: number, followers: number[] }}
 */
export function shareLine({ line, leaderUses, followersNeed }) {
  const reserved = followersNeed.reduce((sum, need) => sum + need, 0);
  const left = Math.max(0, line - leaderUses);
  return {
    leader: Math.max(line / (followersNeed.length + 1), line - reserved),
    followers: followersNeed.map((need) => Math.max(need, left / followersNeed.length)),
  };
}

/**
 * Returns the index of the best quality that is not above another, or of the lowest; -1 without any.
 *
 * @param {readonly number[]} qualities
 * @param {number} limit
 */
export function bestWithin(qualities, limit) {
  const within = qualities.filter((quality) => quality <= limit);
  return qualities.indexOf(within.length > 0 ? Math.max(...within) : Math.min(...qualities));
}
