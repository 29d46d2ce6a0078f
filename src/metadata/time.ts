const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:T.*)?$/;
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|\+00:?00)?$/;
const DURATION = /^(\d{1,4}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?$/;

/** Midnight UTC of `YYYY-MM-DD` (a time after it is ignored), or undefined when there is no such day. */
export function parseDate(text: string): Date | undefined {
  const match = DATE.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return real && year > 0 ? date : undefined;
}

/** Milliseconds since midnight of `HH:mm`, `HH:mm:ss`, both with an optional `Z`; undefined for anything else. */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text.trim());
  if (!match) return undefined;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** Milliseconds of `HH:mm:ss`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text.trim());
  if (!match) return undefined;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (minutes > 59 || seconds > 59) return undefined;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number((match[4] ?? '').padEnd(3, '0'));
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/**
 * A date and time in ISO 8601, in UTC unless it says otherwise, or midnight UTC of a date; undefined for anything else,
 * and for what is not in the years 1 to 9999 of UTC.
 */
export function parseDateTime(text: string): Date | undefined {
  const word = text.trim();
  const day = parseDate(word);
  if (!day || !word.includes('T')) return day;
  if (!DATE_TIME.test(word)) return undefined;
  const instant = new Date(/(?:Z|[+-]\d{2}:?\d{2})$/.test(word) ? word : `${word}Z`);
  // A time zone can carry the first and the last day out of what has four digits. Of no date at all there is no year.
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= 9999 ? instant : undefined;
}

/** `HH:mm:ss` of milliseconds, with a fraction when they are not whole seconds. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = parts.map((part) => String(part).padStart(2, '0')).join(':');
  const fraction = milliseconds % 1000;
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(3, '0')}`;
}

/** `YYYY-MM-DDThh:mm:ssZ`, the contract's form. */
export function formatInstant(date: Date): string {
  return `${date.toISOString().slice(0, -5)}Z`;
}
