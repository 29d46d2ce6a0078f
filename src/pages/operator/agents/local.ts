import type { Period } from '#capture/states/state.ts';
import { instantOf, isTimeZone, offsetAt } from '#platform/text/time-zone.ts';
import { addDays, type Day, dayOf } from './days.ts';

const DATE = new Intl.DateTimeFormat('en-GB', {
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

/** What clocks in the zone show, in milliseconds as if it was UTC. */
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
  return DATE.format(day).replace(',', '');
}

/** `Tuesday 24 November 2026` */
export function dateLong(day: Day): string {
  return WHOLE_DATE.format(day).replace(',', '');
}

/** The day it is in the zone. */
export function todayIn(timeZone: string, now: Date): Day {
  return dayOf(localTime(now, timeZone));
}
