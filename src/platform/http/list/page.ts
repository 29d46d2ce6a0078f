import { z } from 'zod';
import type { Key, Order, Position, Total } from '../../database/list/index.ts';
import { checked } from '../endpoint/check.ts';
import { PAGE } from '../endpoint/query.schemas.ts';
import { badRequest } from '../errors/errors.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const MAX_LENGTH = 20_000;
/**
 * Characters of `Link`, which repeats the query for each relation: proxies and clients refuse headers of a few kilobytes.
 * Who gets the first page has to get the others, so more is risked for the way to the next one than for all of them.
 */
const [MAX_LINKS, MAX_FIRST_LINK] = [2_000, 3_000];

/** The parameters that say which page of a list is wanted. */
export const PageQuery = z.object({
  ...PAGE,
  cursor: z.string().optional().meta({
    description: 'Where the page begins; comes from the `Link` of another page, and takes the place of `offset`.',
  }),
});

/** Which page of a list a request wants. */
export interface PageRequest {
  /** Most rows to return; undefined for all. */
  limit: number | undefined;
  /** Rows to skip; none when the page begins at a cursor. */
  offset: number;
  position: Position | undefined;
}

/**
 * Reads `limit`, `offset` and `cursor`. A cursor takes the place of the offset.
 *
 * @param defaultLimit for a request with none or 0; undefined for no limit
 * @throws {HttpError} 400
 */
export function parsePage(query: Record<string, string>, order: Order, defaultLimit: number | undefined): PageRequest {
  const { limit = defaultLimit, offset = 0, cursor } = checked(PageQuery, query);
  const position = cursor ? decodeCursor(order, cursor) : undefined;
  return { limit, offset: position ? 0 : offset, position };
}

/** What is known of a page once it has been found. */
export interface PageFacts {
  page: PageRequest;
  order: Order;
  /** Keys of the first and the last row; undefined for an empty page. */
  first: Key | undefined;
  last: Key | undefined;
  /** Whether there are rows before the first one, and after the last one. */
  more: { before: boolean; after: boolean };
  total: Total;
}

/**
 * The headers of a page: `X-Total-Count` with `X-Total-Count-Relation` (`eq`: so many there are, `gte`: at least so
 * many), and `Link` with next, prev, first and, when the total is known, last. `next` carries a cursor. Of links that are
 * too long for a header together the first ones are there, and none where `next` alone is.
 *
 * @param url of the list without its query
 * @param query what the client asked for; everything but the place of the page is kept
 */
export function pageHeaders(url: string, query: URLSearchParams, facts: PageFacts): Record<string, string> {
  return headersOf(url, query, { total: facts.total, places: pageLinks(facts) });
}

/** A page of a list that is held as a whole. */
export interface PageOfWhole {
  /** Undefined for all. */
  limit: number | undefined;
  offset: number;
  /** How many there are on all pages. */
  count: number;
}

/** The same headers for a page of a list that is held as a whole; all its links carry an `offset`. */
export function wholeListHeaders(
  url: string,
  query: URLSearchParams,
  { limit, offset, count }: PageOfWhole,
): Record<string, string> {
  const places = {
    first: {},
    ...(offset > 0 && { prev: at(offset - (limit ?? offset)) }),
    ...(limit && offset + limit < count && { next: at(offset + limit) }),
    last: lastPage(limit, count),
  };
  return headersOf(url, query, { total: { count, exact: true }, places });
}

function headersOf(
  url: string,
  query: URLSearchParams,
  { total, places }: { total: Total; places: Record<string, object> },
): Record<string, string> {
  const links = ['next', 'prev', 'first', 'last'].flatMap((relation) => {
    const place = places[relation];
    if (!place) return [];
    const parameters = new URLSearchParams(query);
    for (const name of ['offset', 'cursor']) parameters.delete(name);
    for (const [name, value] of Object.entries(place)) parameters.set(name, value);
    const search = parameters.toString();
    return `<${url}${search && `?${search}`}>; rel="${relation}"`;
  });
  const Link = withinHeader(links);
  return {
    'X-Total-Count': String(total.count),
    'X-Total-Count-Relation': total.exact ? 'eq' : 'gte',
    ...(Link && { Link }),
  };
}

/** As many links from the first on as a header may hold. All are ASCII. */
function withinHeader(links: readonly string[]): string {
  const headers = links.map((_, i) => links.slice(0, i + 1).join(', '));
  return headers.findLast(({ length }, i) => length <= (i === 0 ? MAX_FIRST_LINK : MAX_LINKS)) ?? '';
}

/** The parameters that lead to the pages around one, by relation. */
function pageLinks({ page, order, first, last, more, total }: PageFacts): Record<string, object> {
  const { limit, offset, position } = page;
  const cursor = (side: 'before' | 'after', key: Key) => ({ cursor: encodeCursor(order, { side, key }) });
  const back = !position ? at(offset - (limit ?? offset)) : first && cursor('before', first);
  return {
    first: {},
    ...(more.before && back && { prev: back }),
    ...(more.after && last && { next: cursor('after', last) }),
    ...(total.exact && { last: lastPage(limit, total.count) }),
  };
}

/** The parameters of the page that begins after so many rows. */
function at(rows: number): { offset?: string } {
  return rows > 0 ? { offset: String(rows) } : {};
}

function lastPage(limit: number | undefined, count: number): object {
  return at(limit ? Math.floor(Math.max(0, count - 1) / limit) * limit : 0);
}

/**
 * A place in a list as an opaque word for URLs. It holds the sorting it belongs to and the values of a row, so that it
 * works also when the row is gone.
 */
export function encodeCursor(order: Order, { side, key }: Position): string {
  return Buffer.from(JSON.stringify([signature(order), side, ...key])).toString('base64url');
}

/**
 * The place a cursor stands for.
 *
 * @throws {HttpError} 400 for one that is none, or of another sorting
 */
export function decodeCursor(order: Order, cursor: string): Position {
  const [sorting, side, ...key] = wordsOf(cursor);
  const fits =
    sorting === signature(order) && key.length === order.length && order.every(({ kind }, i) => IS_KEY[kind](key[i]));
  if (!fits || (side !== 'after' && side !== 'before')) {
    throw badRequest("The parameter 'cursor' does not come from a list sorted like this one.");
  }
  return { side, key: key as Key };
}

const IS_KEY: Readonly<Record<Order[number]['kind'], (value: unknown) => boolean>> = {
  text: isText,
  number: (value) => typeof value === 'string' && /^\d{1,15}$/.test(value),
  instant: isInstant,
};

function signature(order: Order): string {
  return order.map(({ name, descending }) => `${name}:${descending ? 'DESC' : 'ASC'}`).join(',');
}

function wordsOf(cursor: string): unknown[] {
  if (cursor.length > MAX_LENGTH) return [];
  try {
    const words: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(words) ? words : [];
  } catch {
    return [];
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed();
}

/** An instant the database takes, too: not the 30th of February. */
function isInstant(value: unknown): boolean {
  if (typeof value !== 'string' || !INSTANT.test(value) || value.startsWith('0000')) return false;
  const seconds = value.slice(0, 19);
  const date = new Date(`${seconds}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds);
}
