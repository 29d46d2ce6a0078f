import type { HttpError } from '#platform/http/errors/errors.ts';
import { INVALID_RULE } from '../states/scheduling-errors.ts';

const LONGEST = 1000;
const SHOWN = 200;
const SHOWN_VALUE = 60;
const PREFIX = /^RRULE:/;
/** Some clients also end the last part with a semicolon. */
const END = /;$/;
const PART = /^([A-Z-]+)=(.+)$/;
const NUMBER = /^([+-]?)(\d{1,9})$/;

const NAMES = [
  ...['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYSETPOS'],
  ...['BYHOUR', 'BYMINUTE', 'BYSECOND', 'WKST', 'COUNT', 'UNTIL'],
];

/** A range of whole numbers; if signed, also negative numbers that count from the end. */
interface Range {
  first: number;
  last: number;
  signed?: boolean;
}

/** The `NAME=VALUE` parts of a recurrence rule (RFC 5545, 3.3.10), in upper case, and errors about their values. */
export class RuleText {
  readonly #text: string;
  readonly #parts = new Map<string, string>();

  /** @throws {HttpError} 400 for malformed, unknown or repeated parts */
  constructor(text: string) {
    this.#text = text.trim();
    if (text.length > LONGEST) throw this.invalid(`an rrule must have at most ${LONGEST} characters`);
    if (!/^[\x20-\x7e]*$/.test(this.#text)) throw this.invalid('an rrule must be one line of ASCII characters');
    for (const part of this.#text.toUpperCase().replace(PREFIX, '').replace(END, '').split(';')) {
      const [, name, value] = PART.exec(part) ?? [];
      if (!name || !value) throw this.invalid("an rrule must consist of parts NAME=VALUE, separated by ';'");
      if (!NAMES.includes(name))
        throw this.invalid(`${shown(name)} is not a known part; allowed are ${NAMES.join(', ')}`);
      if (this.#parts.has(name)) throw this.invalid(`${name} must not occur twice`);
      this.#parts.set(name, value);
    }
  }

  /** Returns the error for this rule; the reason completes a sentence. */
  invalid(reason: string): HttpError {
    const text = this.#text.slice(0, SHOWN).replaceAll(/\p{C}/gu, '');
    return INVALID_RULE(text, reason);
  }

  value(name: string): string | undefined {
    return this.#parts.get(name);
  }

  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.value(name);
    const word = words.find((known) => known === value);
    if (value !== undefined && word === undefined) {
      this.refuse(name, `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
    }
    return word;
  }

  number(name: string, range: Range): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    return numberIn(range, value) ?? this.refuse(name, `one whole number ${formatRange(range)}`);
  }

  /** Returns the distinct numbers of a comma-separated list; none without the part. @throws {HttpError} 400 */
  numbers(name: string, range: Range): number[] {
    return this.list(name, (item) => numberIn(range, item), `whole numbers ${formatRange(range)}`);
  }

  /** Returns the items of a comma-separated list; `read` returns undefined for an invalid one. */
  list<Item>(name: string, read: (item: string) => Item | undefined, allowed: string): Item[] {
    const items = new Set(this.value(name)?.split(','));
    return [...items].map((item) => read(item) ?? this.refuse(name, `${allowed}, separated by commas`));
  }

  /** Refuses the value of a part. @throws {HttpError} 400 */
  refuse(name: string, allowed: string): never {
    const value = this.value(name);
    const is = value === undefined ? 'missing' : `'${shown(value)}'`;
    throw this.invalid(`${name} is ${is}; allowed is ${allowed}`);
  }
}

/** Parses a number in a range; undefined for anything else. */
function numberIn({ first, last, signed = false }: Range, text: string): number | undefined {
  const [, sign, digits] = NUMBER.exec(text) ?? [];
  const size = Number(digits);
  if (digits === undefined || size < first || size > last || (sign !== '' && !signed)) return undefined;
  return sign === '-' ? -size : size;
}

function formatRange({ first, last, signed }: Range): string {
  return `from ${first} to ${last}${signed ? ` or from -${last} to -${first}` : ''}`;
}

function shown(value: string): string {
  return value.length > SHOWN_VALUE ? `${value.slice(0, SHOWN_VALUE)}...` : value;
}

const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;
const WEEKDAYS: readonly string[] = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const HOURS: Range = { first: 0, last: 23 };
const MINUTES: Range = { first: 0, last: 59 };
const WEEKS: Range = { first: 1, last: 53, signed: true };
const YEAR_DAYS: Range = { first: 1, last: 366, signed: true };
const DAY = 86_400_000;
const WEEKDAY = /^([+-]?\d{1,2})?([A-Z]{2})$/;
const UNTIL = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})Z?)?$/;

/** A weekday; 0 is Monday. `nth` selects one of its month or year, from the end if negative. */
interface Weekday {
  weekday: number;
  nth: number | undefined;
}

/** A parsed recurrence rule with a time of day. Empty lists set no restriction. */
export interface Rule {
  frequency: (typeof FREQUENCIES)[number];
  interval: number;
  weekdays: Weekday[];
  months: number[];
  monthDays: number[];
  yearDays: number[];
  weekNumbers: number[];
  positions: number[];
  /** Milliseconds since midnight in UTC. */
  time: number;
  /** 0 is Monday. */
  weekStart: number;
  count: number | undefined;
  /** The last instant allowed by UNTIL; a date includes the whole day. */
  until: number | undefined;
}

/** Parses a rule completely: one that is partly understood would schedule recordings on wrong days. */
export function readRule(text: RuleText): Rule {
  const frequency = text.word('FREQ', FREQUENCIES);
  if (!frequency) text.refuse('FREQ', 'DAILY, WEEKLY, MONTHLY or YEARLY');
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
    text.refuse('BYDAY', `weekdays without numbers, such as MO, with FREQ=${frequency}`);
  }
  if (rule.count !== undefined && rule.until !== undefined) throw text.invalid('COUNT and UNTIL must not be combined');
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
  if (hour === undefined) text.refuse('BYHOUR', 'one whole number from 0 to 23, in UTC');
  if (minute === undefined) text.refuse('BYMINUTE', 'one whole number from 0 to 59');
  return ((hour * 60 + minute) * 60 + (text.number('BYSECOND', MINUTES) ?? 0)) * 1000;
}

function untilOf(text: RuleText): Rule['until'] {
  const value = text.value('UNTIL');
  if (value === undefined) return undefined;
  const [, year, month, day, hour, minute, second] = UNTIL.exec(value) ?? [];
  const time = hour === undefined ? '00:00:00' : `${hour}:${minute}:${second}`;
  const named = Date.parse(`${year}-${month}-${day}T${time}Z`);
  // Rejects dates that Date.parse would shift, such as 30 February or 24:00.
  const real = !Number.isNaN(named) && new Date(named).toISOString() === `${year}-${month}-${day}T${time}.000Z`;
  if (!real) text.refuse('UNTIL', 'a UTC datetime such as 20300131T090000Z, or a date such as 20300131');
  return hour === undefined ? named + DAY - 1 : named;
}
