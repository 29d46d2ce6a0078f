import { type Expression, sql } from 'kysely';
import { type Condition, containsWords, hasValue } from '../../database/list/index.ts';
import { badRequest } from '../errors/errors.ts';
import type { FilterPart } from './filter-grammar.ts';

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;
const MAX_WORDS = 20;

/** What a filter of a list means. */
export interface Filter {
  /** Which values count when a name is given several times: the last one without this. */
  repeated?: 'any' | 'first';
  /** @throws {HttpError} 400 for a value that cannot be read */
  condition(values: readonly [string, ...string[]]): Condition;
}

/**
 * The conditions that the parts of one filter make, all of which must hold.
 *
 * @param find the filter of a name; undefined for a name without effect
 * @throws {HttpError} 400
 */
export function conditionsOf(parts: readonly FilterPart[], find: (name: string) => Filter | undefined): Condition[] {
  const given = new Map<Filter, [string, ...string[]]>();
  for (const { name, value } of parts) {
    const filter = find(name);
    if (!filter) continue;
    const before = given.get(filter);
    if (!before || filter.repeated === undefined) given.set(filter, [value]);
    else if (filter.repeated === 'any') before.push(value);
  }
  return [...given].map(([filter, values]) => filter.condition(values));
}

/** A column that is equal to the value, where an index has the rows of each value in the default order. */
export function equals(column: Expression<unknown>): Filter {
  return { condition: ([value]) => hasValue(column, value) };
}

/** A list one element of which is equal to one of the values. */
export function holds(column: Expression<unknown>): Filter {
  return { condition: (values) => ({ test: sql`${column} && ${[...values]}::text[]` }) };
}

/** The identifier is one of the values. */
export function isOneOf(identifier: Expression<unknown>): Filter {
  return {
    repeated: 'any',
    condition: (values) => ({ test: sql`${identifier} = ANY(${[...values]}::text[])`, few: true }),
  };
}

/** A text, in lower case already, that contains each word of the value. */
export function mentions(text: Expression<unknown>): Filter {
  return {
    repeated: 'first',
    condition: ([value]) => ({ test: containsWords(text, parseWords(value)), costly: true }),
  };
}

/**
 * A moment in a filter, `yyyy-MM-ddTHH:mm:ssZ` in UTC, also with fractions of a second (of which milliseconds count);
 * undefined for anything else.
 */
export function utcInstant(text: string): Date | undefined {
  const [, seconds, fraction = ''] = INSTANT.exec(text) ?? [];
  if (!seconds || seconds.startsWith('0000')) return undefined;
  const date = new Date(`${seconds}${fraction.slice(0, 4)}Z`);
  // Neither the 30th of February nor the 24th hour is one.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds) ? date : undefined;
}

/**
 * The moment up to which an instant given as the end of a period reaches, itself excluded. Clients see instants to the
 * second, so that one given to the second includes it.
 */
export function endOf(text: string): Date | undefined {
  const instant = utcInstant(text);
  return instant && new Date(instant.getTime() + (text.includes('.') ? 1 : 1000));
}

/**
 * The words of a textFilter, each of which has to occur.
 *
 * @throws {HttpError} 400 for very many
 */
export function parseWords(text: string): string[] {
  const words = [...new Set(text.split(/\s+/u).filter((word) => word !== ''))];
  if (words.length <= MAX_WORDS) return words;
  throw badRequest(`The filter 'textFilter' has ${words.length} words; allowed are ${MAX_WORDS}.`);
}
