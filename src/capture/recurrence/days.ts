import { daysInYear, weekOf, yearRule } from './days-in-year.ts';
import type { Rule } from './rule.ts';

const DAY = 86_400_000;

/** Days are counted from 1970-01-01. */
const newYearOf = (year: number) => Date.UTC(year, 0) / DAY;
const yearOf = (day: number) => new Date(day * DAY).getUTCFullYear();
const weekdayOf = (day: number) => new Date(day * DAY).getUTCDay();

/**
 * The days a rule falls on, between the first and the last one, in order. A number of a day counts from 1970-01-01.
 * What the rule leaves open (the weekday of a weekly one, for example) is as on the first day. The work is bounded by
 * the length of the period, also when no day at all is found.
 */
export function* daysOf(rule: Rule, first: number, last: number): Generator<number> {
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
