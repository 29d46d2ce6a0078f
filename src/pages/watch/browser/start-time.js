const CLOCK = /^(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/;
/** Numbers with units in any order; the last one may lack its unit. */
const UNITS = /^(?:\d+(?:\.\d+)?[hms])*(?:\d+(?:\.\d+)?)?$/;
const SECONDS = new Map([
  ['h', 3600],
  ['m', 60],
]);
/** The names of the position in addresses; other players have `time`. */
const NAMES = ['t', 'time'];

/**
 * Parses a position in a recording: `90`, `90s`, `1m30s`, `1h2m3s`, `00:01:30`.
 *
 * @param {string | null} text
 * @returns {number | undefined} in seconds
 */
export function parseTime(text) {
  const position = text?.trim().toLowerCase();
  if (!position) return undefined;
  const total = secondsOf(position);
  return Number.isFinite(total) ? total : undefined;
}

/** @param {string} position */
function secondsOf(position) {
  const clock = CLOCK.exec(position);
  if (clock) return Number(clock[1] ?? 0) * 3600 + Number(clock[2]) * 60 + Number(clock[3]);
  if (!UNITS.test(position)) return Number.NaN;
  const parts = [...position.matchAll(/([\d.]+)([hms]?)/g)];
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (SECONDS.get(unit) ?? 1), 0);
}

/** Returns the position that an address asks for, in its query or its fragment. @param {URL} address */
export function startTime({ searchParams, hash }) {
  return namedTime(searchParams) ?? namedTime(new URLSearchParams(hash.slice(1)));
}

/** @param {URLSearchParams} parameters */
function namedTime(parameters) {
  return NAMES.map((name) => parseTime(parameters.get(name))).find((seconds) => seconds !== undefined);
}

/**
 * Returns an address that starts at a position. The query of a signed address is part of what is signed, its fragment not.
 *
 * @param {URL} address
 * @param {number} seconds
 */
export function withStartTime(address, seconds) {
  const url = new URL(address);
  const isSigned = url.searchParams.has('signature');
  const whole = String(Math.floor(seconds));
  url.hash = isSigned && seconds >= 1 ? `t=${whole}` : '';
  if (isSigned) return url.href;
  for (const name of NAMES) url.searchParams.delete(name);
  if (seconds >= 1) url.searchParams.set('t', whole);
  return url.href;
}
