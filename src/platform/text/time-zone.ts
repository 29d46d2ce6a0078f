const DAY = 86_400_000;
/** The longest IANA name has 32 characters; what Intl takes beside names are offsets, such as `+01:00`. */
const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{1,63}$/;
/** What stands after the day of the month: `GMT+05:30`, `GMT-00:44:30`, and for none `GMT+00:00` or `GMT`. */
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;
/** Each holds tens of kilobytes. */
const MOST_FORMATTERS = 50;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Whether it is the name of a time zone of the IANA database, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** How far clocks in the zone are ahead of UTC at an instant, in milliseconds. @throws {RangeError} unknown zone */
export function offsetAt(instant: number, timeZone: string): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(formatterOf(timeZone).format(instant)) ?? [];
  const length = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -length : length;
}

/**
 * The instant at which clocks in the zone show a time (in milliseconds, as if it was UTC). They skip some times: such
 * a one counts from the offset before the gap, so that 02:30 becomes 03:30 (RFC 5545). They show others twice: then it
 * is the first. @throws {RangeError} unknown zone
 */
export function instantOf(local: number, timeZone: string): number {
  const before = offsetAt(local - DAY, timeZone);
  const after = offsetAt(local + DAY, timeZone);
  if (before === after) return local - before;
  const shown = [local - before, local - after].filter((instant) => instant + offsetAt(instant, timeZone) === local);
  return shown.length > 0 ? Math.min(...shown) : local - before;
}

/** Any spelling of a name in capitals or small letters gives the same one. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const key = timeZone.toLowerCase();
  const known = formatters.get(key);
  if (known) return known;
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone,
    timeZoneName: 'longOffset',
    day: 'numeric',
  });
  if (formatters.size >= MOST_FORMATTERS) formatters.clear();
  formatters.set(key, formatter);
  return formatter;
}
