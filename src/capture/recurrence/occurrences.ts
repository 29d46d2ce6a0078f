import rrule, { type Options } from 'rrule';
import { instantOf, offsetAt } from '#platform/text/time-zone.ts';
import { NO_OCCURRENCES } from '../states/scheduling-errors.ts';
import { type Rule, RuleText, readRule } from './recurrence-rule.ts';

// Node.js cannot import named exports of this package's bundle.
const { RRule, Weekday } = rrule;
const DAY = 86_400_000;
const EVERY_WEEKDAY = [0, 1, 2, 3, 4, 5, 6];
const EVERY_MONTH = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
/** Every n of the n-th weekday in a month or year. */
const EVERY_NTH = Array.from({ length: 53 }, (_, index) => index + 1);
/** rrule searches up to the year 9999; this interval ends its search after one year. */
const BEYOND_THE_CALENDAR = 10_000;

/** A yearly rule as rrule options. BYWEEKNO is separate, as rrule omits the last week from January. */
interface YearRule {
  options: Pick<Options, 'bymonth' | 'bymonthday' | 'byyearday' | 'byweekday'>;
  weekNumbers: number[];
  weekStart: number;
}

/** Returns the matching days of a year, counted from its first day. `newYear` counts from 1970-01-01. */
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

/** A week belongs to the year of its fourth day; it has a number from the start and one from the end of that year. */
function isInWeek(day: number, weekStart: number, numbers: readonly number[]): boolean {
  const middle = weekOf(day, weekStart) * 7 + weekStart;
  const year = new Date(middle * DAY).getUTCFullYear();
  const fromStart = Math.floor((middle - Date.UTC(year, 0) / DAY) / 7) + 1;
  const fromEnd = Math.ceil((middle + 1 - Date.UTC(year + 1, 0) / DAY) / 7) - 1;
  return numbers.includes(fromStart) || numbers.includes(fromEnd);
}

/** Returns the number of the week since 1970-01-01, which was a Thursday. */
function weekOf(day: number, weekStart: number): number {
  return Math.floor((day + 3 - weekStart) / 7);
}

/** Converts a rule to a yearly rule, without INTERVAL, BYSETPOS and time. Unspecified parts follow the first day. */
export function yearRule(rule: Rule, first: number): YearRule {
  const { months, monthDays, weekdays } = { ...rule, ...leftOpen(rule, new Date(first * DAY)) };
  return {
    options: {
      // With months, the n-th weekday counts per month.
      bymonth: rule.frequency === 'MONTHLY' && months.length === 0 ? EVERY_MONTH : months,
      bymonthday: monthDays,
      byyearday: rule.yearDays,
      byweekday: weekdays.length === 0 ? EVERY_WEEKDAY : weekdaysOf(weekdays),
    },
    weekNumbers: rule.weekNumbers,
    weekStart: rule.weekStart,
  };
}

/** Returns the unspecified parts, taken from the first day. */
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

/** rrule requires numbers for all weekdays or for none. */
function weekdaysOf(weekdays: Rule['weekdays']): InstanceType<typeof Weekday>[] {
  const numbered = weekdays.some(({ nth }) => nth !== undefined);
  return weekdays.flatMap(({ weekday, nth }) =>
    (nth === undefined && numbered ? EVERY_NTH : [nth]).map((number) => new Weekday(weekday, number)),
  );
}

/** Days count from 1970-01-01. */
const newYearOf = (year: number) => Date.UTC(year, 0) / DAY;
const yearOf = (day: number) => new Date(day * DAY).getUTCFullYear();
const weekdayOf = (day: number) => new Date(day * DAY).getUTCDay();

/** Yields the days of a rule, in order. The length of the period limits the work. */
function* daysOf(rule: Rule, first: number, last: number): Generator<number> {
  const positions = new Set(rule.positions);
  for (const set of setsOf(rule, first, last)) {
    for (const day of chosen(set, positions)) if (day >= first && day <= last) yield day;
  }
}

/** Yields the days of each period that INTERVAL selects. */
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

/** The periods that INTERVAL counts and BYSETPOS selects from. */
const PERIODS: Record<Rule['frequency'], (day: number, rule: Rule) => number> = {
  DAILY: (day) => day,
  WEEKLY: (day, { weekStart }) => weekOf(day, weekStart),
  MONTHLY: (day) => yearOf(day) * 12 + new Date(day * DAY).getUTCMonth(),
  YEARLY: yearOf,
};

/** Applies BYSETPOS; rrule returns the first day for a position before it. */
function chosen(days: number[], positions: ReadonlySet<number>): number[] {
  if (positions.size === 0) return days;
  return days.filter((_, place) => positions.has(place + 1) || positions.has(place - days.length));
}

/** Yields the first day of each year with the days that the BY... parts allow; some lie outside the period. */
function* matchingDays(rule: Rule, first: number, last: number): Generator<[number, number[]]> {
  const everyYear = yearRule(rule, first);
  const known = new Map<string, number[]>();
  for (let year = yearOf(first - 7); year <= yearOf(last + 7); year++) {
    const [before, newYear, after] = [newYearOf(year - 1), newYearOf(year), newYearOf(year + 1)];
    // Years of the same kind have the same days; there are 21 kinds.
    const kind = [weekdayOf(newYear), after - newYear, newYear - before].join();
    const days = known.get(kind) ?? daysInYear(newYear, everyYear);
    known.set(kind, days);
    yield [newYear, days];
  }
}

/** Recurring recordings in a period between the years 1970 and 2199. */
interface Recurrence {
  /** A rule of RFC 5545, with the time of day in UTC as of the first day. */
  rule: string;
  start: Date;
  end: Date;
  /** The IANA time zone whose clock changes apply. */
  timeZone: string;
  maxOccurrences: number;
}

/**
 * Returns the start times within the period, in order, whatever COUNT or UNTIL allow. The rule's days are UTC days from
 * the day of `start`; COUNT counts from `start`. All recordings start at the same local time in the zone.
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
  // A zone change or the date line can move a later day's time up to one day earlier.
  for (const day of daysOf(rule, firstDay, lastDay + 2)) {
    const instant = instantOf(day * DAY + time + offset, timeZone);
    if (instant > last || found.length === count) break;
    // A day skipped at the date line maps to the next day.
    if (instant < start.getTime() || instant === found.at(-1)) continue;
    found.push(instant);
    if (found.length > maxOccurrences) {
      throw text.invalid(`the rrule results in more than ${maxOccurrences} events, the maximum`);
    }
  }
  if (found.length === 0) throw NO_OCCURRENCES();
  return found.map((instant) => new Date(instant));
}
