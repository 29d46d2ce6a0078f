import { ReadableStream as WebStream } from 'node:stream/web';
import type { Context } from 'hono';
import type { Queryable } from '../../database/kysely.ts';
import { type Entry, findPart, type Slice, type Total } from '../../database/list/index.ts';
import { mediaType, versionedJson } from '../answer/version.ts';
import { pageHeaders, parsePage } from './list-page.ts';
import { type ListedResource, type ListRequest, listingOf } from './listed-resource.ts';

/**
 * Streams a JSON array in batches, without reading ahead. A failed batch breaks the connection: a closed array is
 * complete.
 */
export function streamedArray(
  batches: AsyncGenerator<readonly unknown[]>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  async function* texts() {
    let separator = '[';
    try {
      for await (const batch of batches) {
        if (batch.length === 0) continue;
        yield encoder.encode(separator + batch.map((item) => JSON.stringify(item)).join(','));
        separator = ',';
      }
    } catch (error) {
      onError(error);
      // The server prints this message too.
      throw new Error('The list failed.');
    }
    yield encoder.encode(separator === '[' ? '[]' : ']');
  }
  return WebStream.from(texts()) as ReadableStream<Uint8Array>;
}

const BATCH = 500;

interface ListAnswer<Row> extends ListRequest {
  database: Queryable;
  /** The public URL of the list, without its query. */
  url: string;
  /** Source of `limit`, `offset` and `cursor`; the query by default. */
  page?: Record<string, string>;
  /** For requests without a limit; unlimited by default. */
  defaultLimit?: number;
  json(rows: Row[]): Promise<unknown[]>;
}

/** Responds with a page of a list. Long pages are streamed as the client reads them. @throws {HttpError} 400 */
export async function respondWithList<Row>(
  c: Context,
  resource: ListedResource<Row>,
  { database, url, page: query = c.req.query(), defaultLimit, json, ...request }: ListAnswer<Row>,
): Promise<Response> {
  const listing = listingOf(resource, request, c.get('version'));
  const page = parsePage(query, listing.order, defaultLimit);
  const find = (slice: Slice) => findPart(database, listing, slice);
  const shownJson = (entries: readonly Entry<Row>[]) => json(entries.map(({ shown }) => shown));
  const { offset, position } = page;
  const backwards = position?.side === 'before';
  const limit = Math.min(page.limit ?? Number.POSITIVE_INFINITY, backwards ? BATCH : Number.POSITIVE_INFINITY);
  const size = Math.min(limit, BATCH);
  const [part, end] = await Promise.all([
    find({ position, skip: offset, take: size + 1 }),
    // The headers of a streamed page are sent before its last row is known.
    limit > BATCH && limit < Number.POSITIVE_INFINITY
      ? find({ position, skip: offset + limit - 1, take: 2 })
      : undefined,
  ]);
  const more = part.entries.length > size;
  const entries = backwards ? part.entries.slice(-size) : part.entries.slice(0, size);
  const streamed = more && limit > BATCH;
  const rows = await shownJson(entries);
  const headers = pageHeaders(url, new URL(c.req.url).searchParams, {
    page,
    order: listing.order,
    first: entries[0]?.key,
    last: (end?.entries[0] ?? entries.at(-1))?.key,
    more: {
      before: backwards ? more : position !== undefined || offset > 0,
      after: backwards || (streamed ? (end?.entries.length ?? 0) > 1 : more),
    },
    total: part.entries.length > 0 ? atLeast(part.total, offset + part.entries.length) : part.total,
  });
  if (!streamed) return versionedJson(c, rows, 200, headers);
  async function* batches() {
    yield rows;
    let last = entries.at(-1)?.key;
    for (let left = limit - entries.length; last && left > 0; ) {
      const take = Math.min(left, BATCH);
      const next = await find({ position: { side: 'after', key: last }, skip: 0, take });
      yield await shownJson(next.entries);
      left -= next.entries.length;
      last = next.entries.length < take ? undefined : next.entries.at(-1)?.key;
    }
  }
  return c.body(
    streamedArray(batches(), (error) => c.var.log.error({ err: error }, 'a streamed list failed')),
    200,
    { 'Content-Type': mediaType(c.get('version')), Vary: 'Accept', ...headers },
  );
}

/** A count is at least the number of rows seen. */
function atLeast(total: Total, seen: number): Total {
  return total.count < seen ? { count: seen, exact: false } : total;
}
