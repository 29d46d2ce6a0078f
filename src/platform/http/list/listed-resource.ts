import { type Expression, type SqlBool, sql } from 'kysely';
import {
  type Condition,
  type Criterion,
  containsWords,
  hasValue,
  isAmong,
  type Listing,
  type Order,
  type Term,
} from '../../database/list/index.ts';
import type { DB } from '../../database/schema.ts';
import { API_VERSIONS, type ApiVersion, atLeast } from '../answer/version.ts';
import { badRequest, refusal } from '../errors/errors.ts';

interface FilterPart {
  name: string;
  value: string;
}

const MAX_FILTERS = 50;
const MAX_PARTS = 1000;

/**
 * Parses `filter` parameters: `name:value` separated by commas, without escapes. Empty ones are ignored (compatibility
 * 3.3).
 *
 * @param colons true if values may hold colons; else a value ends at the first one
 * @throws {HttpError} 400 for too many filters
 */
export function parseFilters(filters: readonly string[], { colons }: { colons: boolean }): FilterPart[][] {
  const parsed = filters.map((filter) => parseFilter(filter, colons)).filter((parts) => parts.length > 0);
  if (parsed.length > MAX_FILTERS) {
    throw badRequest(`The parameter 'filter' is given ${parsed.length} times; allowed is ${MAX_FILTERS} times.`);
  }
  const parts = parsed.reduce((sum, { length }) => sum + length, 0);
  if (parts > MAX_PARTS) {
    throw badRequest(`The parameter 'filter' has ${parts} criteria; allowed are ${MAX_PARTS}.`);
  }
  return parsed;
}

function parseFilter(filter: string, colons: boolean): FilterPart[] {
  return filter.split(',').flatMap((part) => {
    const colon = part.indexOf(':');
    if (colon < 0) return [];
    const name = part.slice(0, colon);
    const rest = part.slice(colon + 1);
    const value = colons ? rest : (rest.split(':', 1)[0] ?? '');
    return value === '' ? [] : [{ name, value }];
  });
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;
const MAX_WORDS = 20;

export interface Filter {
  /** Which values of a repeated name count; the last one by default. */
  repeated?: 'any' | 'first';
  /** @throws {HttpError} 400 for an unreadable value */
  condition(values: readonly [string, ...string[]]): Condition | Condition[];
}

/** Returns the conditions of one filter, all of which must hold. @throws {HttpError} 400 */
function conditionsOf(parts: readonly FilterPart[], find: (name: string) => Filter | undefined): Condition[] {
  const given = new Map<Filter, [string, ...string[]]>();
  for (const { name, value } of parts) {
    const filter = find(name);
    if (!filter) continue;
    const before = given.get(filter);
    if (!before || filter.repeated === undefined) given.set(filter, [value]);
    else if (filter.repeated === 'any') before.push(value);
  }
  return [...given].flatMap(([filter, values]) => filter.condition(values));
}

/** Matches rows with this value, through an index on value and default order. */
export function equals(column: Expression<unknown>): Filter {
  return { condition: ([value]) => hasValue(column, value) };
}

/** Matches rows whose array holds one of the values. */
export function hasElement(column: Expression<unknown>): Filter {
  return { condition: (values) => ({ test: sql`${column} && ${[...values]}::text[]` }) };
}

/** Matches rows whose identifier is one of the values. */
export function isOneOf(identifier: Expression<unknown>): Filter {
  return {
    repeated: 'any',
    condition: (values) => ({ test: sql`${identifier} = ANY(${[...values]}::text[])`, few: true }),
  };
}

/** Texts of the rows of a list in another table. */
export interface TextElsewhere {
  /** Tests whether those of the current row contain a word. */
  contains(word: string): Expression<SqlBool>;
  /** Selects the identifiers of rows whose texts contain a word; undefined if none can. */
  rowsWith(word: string): Expression<unknown> | undefined;
}

/** Matches rows whose text, in lower case, contains each word of the value. */
export function hasWordsOf(text: Expression<unknown>): Filter {
  return {
    repeated: 'first',
    condition: ([value]) => ({ test: containsWords(text, parseWords(value)), costly: true }),
  };
}

/** Matches rows that have each word of the value in their text, in lower case, or in the one in another table. */
export function hasWordsOfEither(table: keyof DB, text: Expression<unknown>, elsewhere: TextElsewhere): Filter {
  const id = sql.ref(`${table}.id`);
  const hasWord = (word: string): Condition => {
    const [inText, rows] = [containsWords(text, [word]), elsewhere.rowsWith(word)];
    if (!rows) return { test: inText, costly: true };
    const test = sql<SqlBool>`(${inText} OR ${elsewhere.contains(word)})`;
    const found = sql`SELECT ${id} FROM ${sql.table(table)} WHERE ${inText} UNION ALL ${rows}`;
    return { test, driver: isAmong(id, found), costly: true };
  };
  return {
    repeated: 'first',
    // One for each word, so that rows are found by the rarest.
    condition: ([value]) => parseWords(value).map(hasWord),
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
export function endOfPeriod(text: string): Date | undefined {
  const instant = utcInstant(text);
  return instant && new Date(instant.getTime() + (text.includes('.') ? 1 : 1000));
}

/** Returns the distinct words of a text to search for. @param source for errors @throws {HttpError} 400 for too many */
export function parseWords(text: string, source = "filter 'textFilter'"): string[] {
  const words = [...new Set(text.split(/\s+/u).filter((word) => word !== ''))];
  if (words.length <= MAX_WORDS) return words;
  throw badRequest(`The ${source} has ${words.length} words; allowed are ${MAX_WORDS}.`);
}

interface SortPart {
  name: string;
  descending: boolean;
}

const MAX_SHOWN = 200;

export const UNKNOWN_SORT = refusal(400, (name: string) => `Unknown sort criterion in request: ${name}`, ['colour']);

const DIRECTION = /^(?:asc|(desc))(?:ending)?$/i;

/**
 * Parses `sort`: `name:ASC` or `name:DESC`, separated by commas. The first mention of a name counts. @throws
 * {HttpError} 400
 */
export function parseSort(sort: string | undefined): SortPart[] {
  const parts = new Map<string, SortPart>();
  for (const part of (sort ?? '').split(',')) {
    if (part.trim() === '') continue;
    const [name = '', direction = '', ...more] = part.split(':').map((word) => word.trim());
    const order = DIRECTION.exec(direction);
    if (name === '' || !order || more.length > 0) {
      throw badRequest(
        `The sort criterion ${JSON.stringify(part.slice(0, MAX_SHOWN))} is not of the form name:ASC or name:DESC.`,
      );
    }
    if (!parts.has(name)) parts.set(name, { name, descending: order[1] !== undefined });
  }
  return [...parts.values()];
}

export interface Sorts {
  /** By public name; null is accepted without effect. */
  criteria: Readonly<Record<string, Criterion | null>>;
  /** The default order; by identifier if absent. */
  standard?: Term;
  /** Unique for each row. */
  identifier: Criterion;
}

/**
 * Returns the requested or default order, with the identifier last. @throws {HttpError} 400 for an unknown criterion
 */
export function orderOf(parts: readonly SortPart[], { criteria, standard, identifier }: Sorts): Order {
  const terms: Term[] = [];
  for (const { name, descending } of parts) {
    const criterion = Object.hasOwn(criteria, name) ? criteria[name] : undefined;
    if (criterion === undefined) {
      throw UNKNOWN_SORT(name.slice(0, MAX_SHOWN));
    }
    const known = terms.some((term) => term.name === criterion?.name);
    if (criterion && !known) terms.push({ ...criterion, descending });
  }
  const [first = standard, ...others] = terms;
  if (!first) return [{ ...identifier, descending: false }];
  return [first, ...others, { ...identifier, descending: first.descending }];
}

/** Returns true for the default criterion alone, in either direction. */
function isStandard(order: Order, { standard }: Sorts): boolean {
  return order.length === 2 && order[0]?.name === standard?.name;
}

/** Before this version, unknown filters had no effect. */
const UNKNOWN_REFUSED_SINCE: ApiVersion = '1.1.0';

export const UNKNOWN_FILTER = refusal(400, (name: string) => `Unknown filter criterion in request: ${name}`, [
  'colour',
]);

export interface ListedResource<Row = unknown> extends Pick<Listing<Row>, 'table' | 'shown'> {
  sorts: Sorts;
  filters: Readonly<Record<string, Filter>>;
  /** The version that introduced a filter; the first one by default. */
  filtersSince?: Readonly<Record<string, ApiVersion>>;
  /** The version since which values may hold colons; before, a value stopped at a colon. */
  colonsSince?: ApiVersion;
}

export interface ListRequest extends Pick<Listing, 'access'> {
  sort?: string | undefined;
  /** Values of the parameter `filter`; a row must match one of them. */
  filters?: readonly string[];
  /** Values of dedicated parameters, by filter name, valid in every version; a row must match all. */
  criteria?: Readonly<Record<string, string>>;
}

/** Returns the query for a request. @throws {HttpError} 400 for an unreadable sort or filter */
export function listingOf<Row>(
  resource: ListedResource<Row>,
  { sort, filters = [], criteria, access }: ListRequest,
  version: ApiVersion,
): Listing<Row> {
  const { table, shown, sorts, colonsSince = API_VERSIONS[0] } = resource;
  const order = orderOf(parseSort(sort), sorts);
  const groups = parseFilters(filters, { colons: atLeast(version, colonsSince) }).map((parts) =>
    conditionsOf(parts, (name) => findFilter(resource, name, version)),
  );
  if (criteria) {
    const parts = Object.entries(criteria).map(([name, value]) => ({ name, value }));
    groups.push(conditionsOf(parts, (name) => resource.filters[name]));
  }
  return { table, shown, order, isDefaultOrder: isStandard(order, sorts), groups, access };
}

function findFilter(
  { filters, filtersSince = {} }: ListedResource,
  name: string,
  version: ApiVersion,
): Filter | undefined {
  const known = Object.hasOwn(filters, name) && atLeast(version, filtersSince[name] ?? API_VERSIONS[0]);
  if (known) return filters[name];
  if (!atLeast(version, UNKNOWN_REFUSED_SINCE)) return undefined;
  throw UNKNOWN_FILTER(name.slice(0, MAX_SHOWN));
}
