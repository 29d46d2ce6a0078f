import { z } from 'zod';
import type { Key, Order, Position, Total } from '../../database/list/index.ts';
import { PAGE, parseInput } from '../endpoint/endpoint-schemas.ts';
import { badRequest } from '../errors/errors.ts';
import { utcInstant } from './listed-resource.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const MAX_LENGTH = 20_000;
/**
 * Limits of the `Link` header in characters: proxies and clients reject long headers. Without `next` a client cannot
 * get past the first page, so that link alone may be longer.
 */
const [MAX_LINKS, MAX_FIRST_LINK] = [2_000, 3_000];

export const PageQuery = z.object({
  ...PAGE,
  cursor: z.string().optional().meta({
    description: 'Start of the page, from the `Link` of another page; replaces `offset`.',
  }),
});

/** Parses `limit` (undefined for all), `offset` and `cursor`, which replaces the offset. @throws {HttpError} 400 */
export function parsePage(query: Record<string, string>, order: Order, defaultLimit: number | undefined) {
  const { limit = defaultLimit, offset = 0, cursor } = parseInput(PageQuery, query);
  const position = cursor ? decodeCursor(order, cursor) : undefined;
  return { limit, offset: position ? 0 : offset, position };
}

export interface PageFacts {
  page: ReturnType<typeof parsePage>;
  order: Order;
  /** Keys of the first and last row; undefined for an empty page. */
  first: Key | undefined;
  last: Key | undefined;
  /** True if rows exist before and after the page. */
  more: { before: boolean; after: boolean };
  total: Total;
}

/**
 * Returns `X-Total-Count` with its relation (`eq`: exact, `gte`: at least), and `Link` with next, prev, first and, for
 * an exact total, last. `next` carries a cursor. Links that do not fit into the header are dropped from the end.
 *
 * @param query of the request; all parameters but the position are kept
 */
export function pageHeaders(url: string, query: URLSearchParams, facts: PageFacts): Record<string, string> {
  return headersOf(url, query, { total: facts.total, places: pageLinks(facts) });
}

/** Returns the same headers for a list in memory; its links carry an `offset`. No limit means all. */
export function wholeListHeaders(
  url: string,
  query: URLSearchParams,
  { limit, offset, count }: { limit: number | undefined; offset: number; count: number },
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

/** Returns as many links as a header may hold. All are ASCII. */
function withinHeader(links: readonly string[]): string {
  const headers = links.map((_, i) => links.slice(0, i + 1).join(', '));
  return headers.findLast(({ length }, i) => length <= (i === 0 ? MAX_FIRST_LINK : MAX_LINKS)) ?? '';
}

/** Returns the parameters of related pages, by relation. */
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

function at(rows: number): { offset?: string } {
  return rows > 0 ? { offset: String(rows) } : {};
}

function lastPage(limit: number | undefined, count: number): object {
  return at(limit ? Math.floor(Math.max(0, count - 1) / limit) * limit : 0);
}

/** Encodes a position, with the order and the values of a row, so that it stays valid when the row is gone. */
export function encodeCursor(order: Order, { side, key }: Position): string {
  return Buffer.from(JSON.stringify([signature(order), side, ...key])).toString('base64url');
}

/** Decodes a cursor. @throws {HttpError} 400 for a malformed cursor, or one of another order */
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

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && INSTANT.test(value) && utcInstant(value) !== undefined;
}
