const UNITS = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?$/;

/**
 * Parses a position in a recording: `90`, `90s`, `1m30s`, `1h2m3s`.
 *
 * @param {string | null} text
 * @returns {number | undefined} in seconds
 */
export function parseTime(text) {
  const match = text ? UNITS.exec(text.trim().toLowerCase()) : undefined;
  if (!match) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((number) => Number(number ?? 0));
  const total = hours * 3600 + minutes * 60 + seconds;
  return Number.isFinite(total) ? total : undefined;
}

/** Returns the position that an address asks for, in its query or its fragment. @param {URL} address */
export function startTime({ searchParams, hash }) {
  return parseTime(searchParams.get('t')) ?? parseTime(new URLSearchParams(hash.slice(1)).get('t'));
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
  url.searchParams.delete('t');
  if (seconds >= 1) url.searchParams.set('t', whole);
  return url.href;
}
