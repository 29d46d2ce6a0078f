import { UNPARSABLE_METADATA, unfit } from '../metadata/refusals.ts';
import { formatDuration, parseDateTime, parseTime } from '../metadata/time.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const WITHOUT_SECONDS = /^(\d{2}:\d{2})Z?$/;

/**
 * When a new event starts, by the fields `startDate` (a day, or a whole instant) and `startTime` (UTC), either of them
 * possibly empty: a day without a time starts at midnight, a time without a day is meant for today, and neither means now.
 *
 * @throws {HttpError} 400
 */
export function startOfNew(date: string, time: string, now: Date): Date {
  if (date === '' && time === '') return new Date(Math.floor(now.getTime() / 1000) * 1000);
  const given = dayOf(date);
  return at(given?.day ?? midnight(now), timeOf(time) ?? given?.time ?? 0);
}

/**
 * When an event starts after an update: `startDate` changes only the day unless it is a whole instant, `startTime`
 * only the time of day; one that is empty changes nothing. A time of hours and minutes alone keeps the seconds when it
 * is the event's time already, so that what was read can be written back.
 *
 * @throws {HttpError} 400
 */
export function startAfter(date: string, time: string, current: Date): Date {
  const given = dayOf(date);
  const sinceMidnight = current.getTime() - midnight(current).getTime();
  const same = WITHOUT_SECONDS.exec(time)?.[1] === current.toISOString().slice(11, 16);
  const chosen = same ? (given?.time ?? sinceMidnight) : (timeOf(time) ?? given?.time ?? sinceMidnight);
  return at(given?.day ?? midnight(current), chosen);
}

/** When a new event was created: as its field `created` says, or when it starts. @throws {HttpError} 400 */
export function creationOf(created: string, start: Date): Date {
  return instantOf('created', created, 'a date such as 2026-01-31T13:30:00Z') ?? start;
}

/** `HH:mm:ss` of milliseconds; zero when there are none. */
export function formatHours(milliseconds: number | null): string {
  return formatDuration(Math.floor((milliseconds ?? 0) / 1000) * 1000);
}

function dayOf(date: string): { day: Date; time: number | undefined } | undefined {
  const instant = instantOf('startDate', date, 'a date such as 2026-01-31');
  if (!instant) return undefined;
  const day = midnight(instant);
  return { day, time: date.includes('T') ? instant.getTime() - day.getTime() : undefined };
}

function instantOf(id: string, text: string, allowed: string): Date | undefined {
  if (text === '') return undefined;
  const instant = parseDateTime(text);
  if (instant) return instant;
  throw unparsable(id, text, allowed);
}

function timeOf(time: string): number | undefined {
  if (time === '') return undefined;
  const sinceMidnight = parseTime(time);
  if (sinceMidnight === undefined) throw unparsable('startTime', time, 'a time in UTC such as 13:30:00Z');
  return sinceMidnight;
}

function midnight(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}

function at(day: Date, sinceMidnight: number): Date {
  return new Date(day.getTime() + sinceMidnight);
}

function unparsable(id: string, value: string, allowed: string) {
  return UNPARSABLE_METADATA('event', unfit(id, value, allowed));
}
