import { type Expression, sql } from 'kysely';
import { type Condition, containsWords, hasValue } from '../../database/list/index.ts';
import { badRequest } from '../errors/errors.ts';
import type { FilterPart } from './filter-grammar.ts';

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;
const MAX_WORDS = 20;

/** A filter of a list. */
export interface Filter {
  /** Which values of a repeated name count; the last one by default. */
  repeated?: 'any' | 'first';
  /** @throws {HttpError} 400 for an unreadable value */
  condition(values: readonly [string, ...string[]]): Condition;
}

/**
 * Returns the conditions of one filter, all of which must hold.
 *
 * @param find returns undefined for a name without effect
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

/** Matches rows with this value, through an index on value and default order. */
export function equals(column: Expression<unknown>): Filter {
  return { condition: ([value]) => hasValue(column, value) };
}

/** Matches rows whose array holds one of the values. */
export function holds(column: Expression<unknown>): Filter {
  return { condition: (values) => ({ test: sql`${column} && ${[...values]}::text[]` }) };
}

/** Matches rows whose identifier is one of the values. */
export function isOneOf(identifier: Expression<unknown>): Filter {
  return {
    repeated: 'any',
    condition: (values) => ({ test: sql`${identifier} = ANY(${[...values]}::text[])`, few: true }),
  };
}

/** Matches rows whose text, in lower case, contains each word of the value. */
export function mentions(text: Expression<unknown>): Filter {
  return {
    repeated: 'first',
    condition: ([value]) => ({ test: containsWords(text, parseWords(value)), costly: true }),
  };
}

/** Parses `yyyy-MM-ddTHH:mm:ssZ`, also with a fraction (to the millisecond); undefined for anything else. */
export function utcInstant(text: string): Date | undefined {
  const [, seconds, fraction = ''] = INSTANT.exec(text) ?? [];
  if (!seconds || seconds.startsWith('0000')) return undefined;
  const date = new Date(`${seconds}${fraction.slice(0, 4)}Z`);
  // Rejects the 30th of February and the hour 24.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds) ? date : undefined;
}

/** Returns the exclusive end of a period. Clients see seconds, so an end given to the second includes that second. */
export function endOf(text: string): Date | undefined {
  const instant = utcInstant(text);
  return instant && new Date(instant.getTime() + (text.includes('.') ? 1 : 1000));
}

/** Returns the distinct words of a textFilter. @throws {HttpError} 400 for too many */
export function parseWords(text: string): string[] {
  const words = [...new Set(text.split(/\s+/u).filter((word) => word !== ''))];
  if (words.length <= MAX_WORDS) return words;
  throw badRequest(`The filter 'textFilter' has ${words.length} words; allowed are ${MAX_WORDS}.`);
}
