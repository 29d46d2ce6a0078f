import type { Period } from '#capture/states/state.ts';
import { instantOf, isTimeZone, offsetAt } from '#platform/text/time-zone.ts';

const DAY = 86_400_000;
const WEEK = 7 * DAY;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const WEEK_NAME = /^(\d{4})-W(\d{2})$/;
const FIRST = Date.UTC(1970, 0, 2);
const LAST = Date.UTC(9998, 11, 31);

/** Days are counted in milliseconds: midnight as if it was UTC, whatever the time zone is. */
export type Day = number;

/** The day of a local time, which is counted as if it was UTC. */
export function dayOf(local: number): Day {
  return Math.floor(local / DAY) * DAY;
}

export function addDays(day: Day, days: number): Day {
  return day + days * DAY;
}

/** The day that a date such as `2026-11-25` names, between 1970 and 9998; undefined for what names none. */
export function parseDay(text: string): Day | undefined {
  const [, year, month, date] = DATE.exec(text) ?? [];
  const day = Date.UTC(Number(year), Number(month) - 1, Number(date));
  return day >= FIRST && day <= LAST && dateOf(day) === text ? day : undefined;
}

/** The Monday of a week such as `2026-W48`, or of that with a date in it; undefined for what is neither. */
export function parseWeek(text: string): Day | undefined {
  const [, year, number] = WEEK_NAME.exec(text) ?? [];
  const day = year === undefined ? parseDay(text) : weekOfYear(Number(year), Number(number));
  return day === undefined || (year !== undefined && weekName(day) !== text) ? undefined : mondayOf(day);
}

/** The Monday of its week. */
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

/** `2026-11-25` */
export function dateOf(day: Day): string {
  return new Date(day).toISOString().slice(0, 10);
}

function weekOfYear(year: number, number: number): Day | undefined {
  if (year < 1971 || year > 9998) return undefined;
  // The fourth of January always lies in the first week.
  return mondayOf(Date.UTC(year, 0, 4)) + (number - 1) * WEEK;
}

const SHORT_DATE = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});
const WHOLE_DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });

/** The zone if there is such a one, and UTC otherwise. */
export function knownZone(timeZone: string): string {
  return isTimeZone(timeZone) ? timeZone : 'UTC';
}

/** Returns the time that clocks in the zone show, in milliseconds as if it was UTC. */
export function localTime(instant: Date, timeZone: string): number {
  return instant.getTime() + offsetAt(instant.getTime(), timeZone);
}

/** From the first midnight of some days in a zone up to the last one: a day may have 23 or 25 hours. */
export function periodOfDays(first: Day, days: number, timeZone: string): Period {
  const [start, end] = [first, addDays(first, days)].map((day) => new Date(instantOf(day, timeZone)));
  return { start: start as Date, end: end as Date };
}

/**
 * `08:15–09:45`, with the day of what is on another one than the day given: `23:00–Wed 25 Nov 01:00`. Without a day, that
 * of the start is always told.
 */
export function timesOf({ start, end }: Period, timeZone: string, day?: Day): string {
  const [first, last] = [localTime(start, timeZone), localTime(end, timeZone)];
  return `${timeOn(first, [day])}–${timeOn(last, [day, dayOf(first)])}`;
}

function timeOn(local: number, known: readonly (Day | undefined)[]): string {
  return known.includes(dayOf(local)) ? clockOf(local) : `${dateShort(dayOf(local))} ${clockOf(local)}`;
}

/** `08:15` */
export function clockOf(local: number): string {
  return new Date(local).toISOString().slice(11, 16);
}

/** `Tue 24 Nov` */
export function dateShort(day: Day): string {
  return SHORT_DATE.format(day).replace(',', '');
}

/** `Tuesday 24 November 2026` */
export function dateLong(day: Day): string {
  return WHOLE_DATE.format(day).replace(',', '');
}

/** The day it is in the zone. */
export function todayIn(timeZone: string, now: Date): Day {
  return dayOf(localTime(now, timeZone));
}
