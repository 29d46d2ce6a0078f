import rrule, { type Options } from 'rrule';
import { instantOf, offsetAt } from '#platform/text/time-zone.ts';
import { NO_OCCURRENCES } from '../states/refusals.ts';
import { type Rule, RuleText, readRule } from './recurrence-rule.ts';

// Node finds no names in the package's bundle to import one by one.
const { RRule, Weekday } = rrule;
const DAY = 86_400_000;
const EVERY_WEEKDAY = [0, 1, 2, 3, 4, 5, 6];
const EVERY_MONTH = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
/** The n-th Monday of a month or year for every n. */
const EVERY_NTH = Array.from({ length: 53 }, (_, index) => index + 1);
/** The package looks for days up to the year 9999, however few there are. One step so wide ends its search. */
const BEYOND_THE_CALENDAR = 10_000;

/** A rule of one year in the words of the package, but for BYWEEKNO, whose last week it leaves out of January. */
interface YearRule {
  options: Pick<Options, 'bymonth' | 'bymonthday' | 'byyearday' | 'byweekday'>;
  weekNumbers: number[];
  weekStart: number;
}

/** The days of a year, counted from its first. `newYear` counts from 1970-01-01. */
export function daysInYear(newYear: number, { options, weekNumbers, weekStart }: YearRule): number[] {
  const dtstart = new Date(newYear * DAY);
  const noCache = true;
  const days = new RRule({ ...options, freq: RRule.YEARLY, interval: BEYOND_THE_CALENDAR, dtstart }, noCache)
    .all()
    .map((date) => Math.floor(date.getTime() / DAY));
  return days
    .filter((day) => weekNumbers.length === 0 || isInWeek(day, weekStart, weekNumbers))
    .map((day) => day - newYear);
}

/** A week belongs to the year that its fourth day is in; it has a number from that year's start and one from its end. */
function isInWeek(day: number, weekStart: number, numbers: readonly number[]): boolean {
  const middle = weekOf(day, weekStart) * 7 + weekStart;
  const year = new Date(middle * DAY).getUTCFullYear();
  const fromStart = Math.floor((middle - Date.UTC(year, 0) / DAY) / 7) + 1;
  const fromEnd = Math.ceil((middle + 1 - Date.UTC(year + 1, 0) / DAY) / 7) - 1;
  return numbers.includes(fromStart) || numbers.includes(fromEnd);
}

/** How many weeks begin between a day and 1970-01-01, which was a Thursday. */
function weekOf(day: number, weekStart: number): number {
  return Math.floor((day + 3 - weekStart) / 7);
}

/**
 * Any rule as one of a year; INTERVAL, BYSETPOS and the time of the day are left to others. What it leaves open (the
 * weekday of a weekly one, for example) is as on its first day, which counts from 1970-01-01.
 */
export function yearRule(rule: Rule, first: number): YearRule {
  const { months, monthDays, weekdays } = { ...rule, ...leftOpen(rule, new Date(first * DAY)) };
  return {
    options: {
      // With months, the n-th weekday is that of each month.
      bymonth: rule.frequency === 'MONTHLY' && months.length === 0 ? EVERY_MONTH : months,
      bymonthday: monthDays,
      byyearday: rule.yearDays,
      byweekday: weekdays.length === 0 ? EVERY_WEEKDAY : weekdaysOf(weekdays),
    },
    weekNumbers: rule.weekNumbers,
    weekStart: rule.weekStart,
  };
}

/** What the first day says in place of the rule. */
function leftOpen(rule: Rule, date: Date): Partial<Rule> {
  const { frequency, months, weekNumbers } = rule;
  const said = rule.weekdays.length + rule.monthDays.length + rule.yearDays.length > 0;
  if (said || frequency === 'DAILY') return {};
  if (frequency === 'WEEKLY' || weekNumbers.length > 0) {
    return { weekdays: [{ weekday: (date.getUTCDay() + 6) % 7, nth: undefined }] };
  }
  const monthDays = [date.getUTCDate()];
  const ofOneMonth = frequency === 'YEARLY' && months.length === 0;
  return ofOneMonth ? { monthDays, months: [date.getUTCMonth() + 1] } : { monthDays };
}

/** The package wants all of them with numbers, or none. */
function weekdaysOf(weekdays: Rule['weekdays']): InstanceType<typeof Weekday>[] {
  const numbered = weekdays.some(({ nth }) => nth !== undefined);
  return weekdays.flatMap(({ weekday, nth }) =>
    (nth === undefined && numbered ? EVERY_NTH : [nth]).map((number) => new Weekday(weekday, number)),
  );
}

/** Days are counted from 1970-01-01. */
const newYearOf = (year: number) => Date.UTC(year, 0) / DAY;
const yearOf = (day: number) => new Date(day * DAY).getUTCFullYear();
const weekdayOf = (day: number) => new Date(day * DAY).getUTCDay();

/**
 * The days a rule falls on, between the first and the last one, in order. A number of a day counts from 1970-01-01.
 * What the rule leaves open (the weekday of a weekly one, for example) is as on the first day. The work is bounded by
 * the length of the period, also when no day at all is found.
 */
function* daysOf(rule: Rule, first: number, last: number): Generator<number> {
  const positions = new Set(rule.positions);
  for (const set of setsOf(rule, first, last)) {
    for (const day of chosen(set, positions)) if (day >= first && day <= last) yield day;
  }
}

/** The days of each period that INTERVAL does not leave out. */
function* setsOf(rule: Rule, first: number, last: number): Generator<number[]> {
  const periodOf = PERIODS[rule.frequency];
  const origin = periodOf(first, rule);
  let period = origin;
  let set: number[] = [];
  for (const [newYear, days] of matchingDays(rule, first, last)) {
    for (const dayOfYear of days) {
      const day = newYear + dayOfYear;
      const own = periodOf(day, rule);
      if (own < origin || (own - origin) % rule.interval !== 0) continue;
      if (own !== period) {
        yield set;
        period = own;
        set = [];
      }
      set.push(day);
    }
  }
  yield set;
}

/** What INTERVAL counts and BYSETPOS chooses from. */
const PERIODS: Record<Rule['frequency'], (day: number, rule: Rule) => number> = {
  DAILY: (day) => day,
  WEEKLY: (day, { weekStart }) => weekOf(day, weekStart),
  MONTHLY: (day) => yearOf(day) * 12 + new Date(day * DAY).getUTCMonth(),
  YEARLY: yearOf,
};

/** BYSETPOS; the package takes the first day for a position before it. */
function chosen(days: number[], positions: ReadonlySet<number>): number[] {
  if (positions.size === 0) return days;
  return days.filter((_, place) => positions.has(place + 1) || positions.has(place - days.length));
}

/** The first days of years, and the days that the rule's parts BY... allow in them; some lie beyond both ends. */
function* matchingDays(rule: Rule, first: number, last: number): Generator<[number, number[]]> {
  const everyYear = yearRule(rule, first);
  const known = new Map<string, number[]>();
  for (let year = yearOf(first - 7); year <= yearOf(last + 7); year++) {
    const [before, newYear, after] = [newYearOf(year - 1), newYearOf(year), newYearOf(year + 1)];
    // Years of the same kind have the same days, and there are 21 kinds.
    const kind = [weekdayOf(newYear), after - newYear, newYear - before].join();
    const days = known.get(kind) ?? daysInYear(newYear, everyYear);
    known.set(kind, days);
    yield [newYear, days];
  }
}

/** Recordings that recur within a period, which lies between the years 1970 and 2199. */
interface Recurrence {
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
