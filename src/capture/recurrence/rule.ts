import { numberIn, type Range, type RuleText } from './rule-text.ts';

const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;
const WEEKDAYS: readonly string[] = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const HOURS: Range = { first: 0, last: 23 };
const MINUTES: Range = { first: 0, last: 59 };
const WEEKS: Range = { first: 1, last: 53, signed: true };
const YEAR_DAYS: Range = { first: 1, last: 366, signed: true };
const DAY = 86_400_000;
const WEEKDAY = /^([+-]?\d{1,2})?([A-Z]{2})$/;
const UNTIL = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})Z?)?$/;

/** A weekday: 0 is Monday. With `nth`: only the so many-th of its month or year, from the end when negative. */
export interface Weekday {
  weekday: number;
  nth: number | undefined;
}

/** A recurrence rule that says the time of the day. Empty lists leave everything open. */
export interface Rule {
  frequency: (typeof FREQUENCIES)[number];
  interval: number;
  weekdays: Weekday[];
  months: number[];
  monthDays: number[];
  yearDays: number[];
  weekNumbers: number[];
  positions: number[];
  /** Milliseconds since midnight, in UTC. */
  time: number;
  /** 0 is Monday. */
  weekStart: number;
  count: number | undefined;
  /** The last instant that is not after UNTIL: a date means all of its day. */
  until: number | undefined;
}

/**
 * What the text of a recurrence rule means. Strict: a rule that is not understood in all its parts would plan
 * recordings for the wrong days. @throws {HttpError} 400
 */
export function readRule(text: RuleText): Rule {
  const frequency = text.word('FREQ', FREQUENCIES);
  if (!frequency) throw text.refuse('FREQ', 'DAILY, WEEKLY, MONTHLY or YEARLY');
  const rule = {
    frequency,
    interval: text.number('INTERVAL', { first: 1, last: 1000 }) ?? 1,
    weekdays: text.list('BYDAY', weekdayOf, 'weekdays such as MO, or 1MO and -1MO in a month or year'),
    months: text.numbers('BYMONTH', { first: 1, last: 12 }),
    monthDays: text.numbers('BYMONTHDAY', { first: 1, last: 31, signed: true }),
    yearDays: text.numbers('BYYEARDAY', YEAR_DAYS),
    weekNumbers: text.numbers('BYWEEKNO', WEEKS),
    positions: text.numbers('BYSETPOS', YEAR_DAYS),
    time: timeOf(text),
    weekStart: WEEKDAYS.indexOf(text.word('WKST', WEEKDAYS) ?? 'MO'),
    count: text.number('COUNT', { first: 1, last: 999_999_999 }),
    until: untilOf(text),
  };
  if (rule.weekdays.some(({ nth }) => nth !== undefined) && ['DAILY', 'WEEKLY'].includes(frequency)) {
    throw text.refuse('BYDAY', `weekdays such as MO with FREQ=${frequency}, without numbers before them`);
  }
  if (rule.count !== undefined && rule.until !== undefined)
    throw text.invalid('allowed is either COUNT or UNTIL, not both');
  return rule;
}

function weekdayOf(item: string): Weekday | undefined {
  const [, number, name = ''] = WEEKDAY.exec(item) ?? [];
  const weekday = WEEKDAYS.indexOf(name);
  const nth = number === undefined ? undefined : numberIn(WEEKS, number);
  return weekday < 0 || (number !== undefined && nth === undefined) ? undefined : { weekday, nth };
}

function timeOf(text: RuleText): number {
  const hour = text.number('BYHOUR', HOURS);
  const minute = text.number('BYMINUTE', MINUTES);
  if (hour === undefined) throw text.refuse('BYHOUR', 'one whole number from 0 to 23, in UTC');
  if (minute === undefined) throw text.refuse('BYMINUTE', 'one whole number from 0 to 59');
  return ((hour * 60 + minute) * 60 + (text.number('BYSECOND', MINUTES) ?? 0)) * 1000;
}

function untilOf(text: RuleText): Rule['until'] {
  const value = text.value('UNTIL');
  if (value === undefined) return undefined;
  const [, year, month, day, hour, minute, second] = UNTIL.exec(value) ?? [];
  const time = hour === undefined ? '00:00:00' : `${hour}:${minute}:${second}`;
  const named = Date.parse(`${year}-${month}-${day}T${time}Z`);
  // 30 February would become a day in March, and 24:00 the next day.
  const real =
    !Number.isNaN(named) && new Date(named).toISOString() === `${year}-${month}-${day}T${time}.000Z`;
  if (!real)
    throw text.refuse('UNTIL', 'a UTC datetime such as 20300131T090000Z, or a date such as 20300131');
  return hour === undefined ? named + DAY - 1 : named;
}
