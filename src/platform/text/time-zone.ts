const DAY = 86_400_000;
/** IANA names have up to 32 characters; Intl also accepts offsets such as `+01:00`. */
const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{1,63}$/;
/** The offset in `GMT+05:30`, `GMT-00:44:30`, `GMT+00:00` or `GMT`. */
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;
/** Each formatter takes tens of kilobytes. */
const MOST_FORMATTERS = 50;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Returns true for a name of the IANA database, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the time zone of this machine; UTC if it has no name. */
export function localTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return isTimeZone(timeZone) ? timeZone : 'UTC';
}

/** Returns the offset of a zone from UTC at an instant, in milliseconds. @throws {RangeError} unknown zone */
export function offsetAt(instant: number, timeZone: string): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(formatterOf(timeZone).format(instant)) ?? [];
  const length = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -length : length;
}

/**
 * Returns the instant of a local time, given in milliseconds as if in UTC. A skipped time takes the offset before the
 * gap (RFC 5545); of a repeated time the first instant counts. @throws {RangeError} unknown zone
 */
export function instantOf(local: number, timeZone: string): number {
  const before = offsetAt(local - DAY, timeZone);
  const after = offsetAt(local + DAY, timeZone);
  if (before === after) return local - before;
  const shown = [local - before, local - after].filter((instant) => instant + offsetAt(instant, timeZone) === local);
  return shown.length > 0 ? Math.min(...shown) : local - before;
}

/** Ignores the case of names. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const key = timeZone.toLowerCase();
  const known = formatters.get(key);
  if (known) return known;
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', day: 'numeric' });
  if (formatters.size >= MOST_FORMATTERS) formatters.clear();
  formatters.set(key, formatter);
  return formatter;
}
