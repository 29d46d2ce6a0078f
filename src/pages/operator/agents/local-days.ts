import type { Period } from '#capture/states/recording-state.ts';
import { instantOf, isTimeZone, offsetAt } from '#platform/text/time-zone.ts';

const DAY = 86_400_000;
const WEEK = 7 * DAY;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const WEEK_NAME = /^(\d{4})-W(\d{2})$/;
const FIRST = Date.UTC(1970, 0, 2);
const LAST = Date.UTC(9998, 11, 31);

/** A day: the milliseconds of its midnight in UTC, in every time zone. */
export type Day = number;

/** Returns the day of a local time, given in milliseconds as if it was UTC. */
export function dayOf(local: number): Day {
  return Math.floor(local / DAY) * DAY;
}

export function addDays(day: Day, days: number): Day {
  return day + days * DAY;
}

/** Parses a date such as `2026-11-25`, between 1970 and 9998. Returns undefined for other texts. */
export function parseDay(text: string): Day | undefined {
  const [, year, month, date] = DATE.exec(text) ?? [];
  const day = Date.UTC(Number(year), Number(month) - 1, Number(date));
  return day >= FIRST && day <= LAST && dateOf(day) === text ? day : undefined;
}

/** Parses a week such as `2026-W48`, or a date in it, to its Monday. Returns undefined for other texts. */
export function parseWeek(text: string): Day | undefined {
  const [, year, number] = WEEK_NAME.exec(text) ?? [];
  const day = year === undefined ? parseDay(text) : weekOfYear(Number(year), Number(number));
  return day === undefined || (year !== undefined && weekName(day) !== text) ? undefined : mondayOf(day);
}

/** Returns the Monday of the week of a day. */
export function mondayOf(day: Day): Day {
  // 1970-01-01 was a Thursday.
  return Math.floor((day + 3 * DAY) / WEEK) * WEEK - 3 * DAY;
}

/** Returns the name of the week of a day: `2026-W48`. Its year is that of its Thursday (ISO 8601). */
export function weekName(day: Day): string {
  const thursday = mondayOf(day) + 3 * DAY;
  const year = new Date(thursday).getUTCFullYear();
  const number = Math.floor((thursday - Date.UTC(year, 0, 1)) / WEEK) + 1;
  return `${String(year).padStart(4, '0')}-W${String(number).padStart(2, '0')}`;
}

/** Formats a day: `2026-11-25`. */
export function dateOf(day: Day): string {
  return new Date(day).toISOString().slice(0, 10);
}

function weekOfYear(year: number, number: number): Day | undefined {
  if (year < 1971 || year > 9998) return undefined;
  // January 4 is always in the first week.
  return mondayOf(Date.UTC(year, 0, 4)) + (number - 1) * WEEK;
}

const SHORT_DATE = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});
const WHOLE_DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });

/** Returns the time zone, or UTC if it is unknown. */
export function knownZone(timeZone: string): string {
  return isTimeZone(timeZone) ? timeZone : 'UTC';
}

/** Returns the local time in a zone, in milliseconds as if it was UTC. */
export function localTime(instant: Date, timeZone: string): number {
  return instant.getTime() + offsetAt(instant.getTime(), timeZone);
}

/** Returns the period of some days in a time zone. A day may have 23 or 25 hours. */
export function periodOfDays(first: Day, days: number, timeZone: string): Period {
  const [start, end] = [first, addDays(first, days)].map((day) => new Date(instantOf(day, timeZone)));
  return { start: start as Date, end: end as Date };
}

/** Formats a period: `08:15–09:45`. Adds dates that differ from `day`: `23:00–Wed 25 Nov 01:00`. */
export function timesOf({ start, end }: Period, timeZone: string, day?: Day): string {
  const [first, last] = [localTime(start, timeZone), localTime(end, timeZone)];
  return `${timeOn(first, [day])}–${timeOn(last, [day, dayOf(first)])}`;
}

function timeOn(local: number, known: readonly (Day | undefined)[]): string {
  return known.includes(dayOf(local)) ? clockOf(local) : `${dateShort(dayOf(local))} ${clockOf(local)}`;
}

/** Formats a local time: `08:15`. */
export function clockOf(local: number): string {
  return new Date(local).toISOString().slice(11, 16);
}

/** Formats a day: `Tue 24 Nov`. */
export function dateShort(day: Day): string {
  return SHORT_DATE.format(day).replace(',', '');
}

/** Formats a day: `Tuesday 24 November 2026`. */
export function dateLong(day: Day): string {
  return WHOLE_DATE.format(day).replace(',', '');
}

/** Returns today's date in a time zone. */
export function todayIn(timeZone: string, now: Date): Day {
  return dayOf(localTime(now, timeZone));
}
