const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:T.*)?$/;
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|\+00:?00)?$/;
const DURATION = /^(\d{1,4}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?$/;

/** Parses `YYYY-MM-DD` as midnight UTC, ignoring a time after it; undefined if the day does not exist. */
export function parseDate(text: string): Date | undefined {
  const match = DATE.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return real && year > 0 ? date : undefined;
}

/** Parses `HH:mm` or `HH:mm:ss`, with an optional `Z`, as milliseconds since midnight; undefined for anything else. */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text.trim());
  if (!match) return undefined;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** Parses `HH:mm:ss` as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text.trim());
  if (!match) return undefined;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (minutes > 59 || seconds > 59) return undefined;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number((match[4] ?? '').padEnd(3, '0'));
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/**
 * Parses an ISO 8601 date and time (UTC by default), or a date as midnight UTC. Returns undefined for anything else, and
 * outside of the years 1 to 9999 in UTC.
 */
export function parseDateTime(text: string): Date | undefined {
  const word = text.trim();
  const day = parseDate(word);
  if (!day || !word.includes('T')) return day;
  if (!DATE_TIME.test(word)) return undefined;
  const instant = new Date(/(?:Z|[+-]\d{2}:?\d{2})$/.test(word) ? word : `${word}Z`);
  // A time zone can move the first and the last day out of the range. The year of an invalid date is NaN.
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= 9999 ? instant : undefined;
}

/** Formats milliseconds as `HH:mm:ss`, with a fraction if they are not whole seconds. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = parts.map((part) => String(part).padStart(2, '0')).join(':');
  const fraction = milliseconds % 1000;
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(3, '0')}`;
}

/** Formats an instant as `YYYY-MM-DDThh:mm:ssZ`. */
export function formatInstant(date: Date): string {
  return `${date.toISOString().slice(0, -5)}Z`;
}
