import rrule, { type Options } from 'rrule';
import type { Rule } from './rule.ts';

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
export interface YearRule {
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
export function weekOf(day: number, weekStart: number): number {
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
