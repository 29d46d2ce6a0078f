import { instantOf, offsetAt } from '#platform/text/time-zone.ts';
import { NO_OCCURRENCES } from '../states/refusals.ts';
import { daysOf } from './days.ts';
import { readRule } from './rule.ts';
import { RuleText } from './rule-text.ts';

const DAY = 86_400_000;

/** Recordings that recur within a period, which lies between the years 1970 and 2199. */
export interface Recurrence {
  /** In the words of RFC 5545, with the time of the day in UTC as of the first day. */
  rule: string;
  start: Date;
  end: Date;
  /** IANA name of the zone whose clocks they follow when these change. */
  timeZone: string;
  maxOccurrences: number;
}

/**
 * When the recordings start, in order: none before the period, none after it, however far COUNT or UNTIL reach. The rule
 * speaks of days in UTC, counted from the day of `start`; COUNT counts from `start`. All start at the same time of the day in
 * the zone.
 *
 * @throws {HttpError} 400
 */
export function occurrencesOf(recurrence: Recurrence): Date[] {
  const { start, end, timeZone, maxOccurrences } = recurrence;
  const text = new RuleText(recurrence.rule);
  const rule = readRule(text);
  const { count, until, time } = rule;
  const last = Math.min(end.getTime(), until ?? Number.POSITIVE_INFINITY);
  const [firstDay, lastDay] = [Math.floor(start.getTime() / DAY), Math.floor(last / DAY)];
  const offset = offsetAt(firstDay * DAY + time, timeZone);
  const found: number[] = [];
  // A zone that is set back or that crosses the date line brings a later day's time up to a day nearer.
  for (const day of daysOf(rule, firstDay, lastDay + 2)) {
    const instant = instantOf(day * DAY + time + offset, timeZone);
    if (instant > last || found.length === count) break;
    // A day that is left out at the date line falls upon the next one.
    if (instant < start.getTime() || instant === found.at(-1)) continue;
    found.push(instant);
    if (found.length > maxOccurrences) {
      throw text.invalid(`the rrule gives more than ${maxOccurrences} events; allowed are ${maxOccurrences}`);
    }
  }
  if (found.length === 0) throw NO_OCCURRENCES();
  return found.map((instant) => new Date(instant));
}
