import type { Context } from 'hono';
import type { Queryable } from '../../database/kysely.ts';
import { type Entry, findPart, type Key, type Part, type Slice, type Total } from '../../database/list/index.ts';
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
  let separator = '[';
  let gone = false;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          // A call that enqueues nothing would be the last one.
          let items = '';
          while (items === '') {
            const { value, done } = await batches.next();
            if (gone) return;
            if (done) {
              controller.enqueue(encoder.encode(separator === '[' ? '[]' : ']'));
              controller.close();
              return;
            }
            items = value.map((item) => JSON.stringify(item)).join(',');
          }
          controller.enqueue(encoder.encode(separator + items));
          separator = ',';
        } catch (error) {
          if (gone) return;
          onError(error);
          // The server prints this message too.
          controller.error(new Error('The list failed.'));
        }
      },
      cancel: async () => {
        gone = true;
        await batches.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
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
  const source: Source<Row> = {
    find: (slice) => findPart(database, listing, slice),
    json: (entries) => json(entries.map(({ shown }) => shown)),
  };
  const { offset, position } = page;
  const backwards = position?.side === 'before';
  const limit = Math.min(page.limit ?? Number.POSITIVE_INFINITY, backwards ? BATCH : Number.POSITIVE_INFINITY);
  const size = Math.min(limit, BATCH);
  const [part, end] = await Promise.all([
    source.find({ position, skip: offset, take: size + 1 }),
    // The headers of a streamed page are sent before its last row is known.
    limit > BATCH && limit < Number.POSITIVE_INFINITY
      ? source.find({ position, skip: offset + limit - 1, take: 2 })
      : undefined,
  ]);
  const more = part.entries.length > size;
  const entries = backwards ? part.entries.slice(-size) : part.entries.slice(0, size);
  const streamed = more && limit > BATCH;
  const rows = await source.json(entries);
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
  const batches = restOf(source, { rows, last: entries.at(-1)?.key, left: limit - entries.length });
  return c.body(
    streamedArray(batches, (error) => c.var.log.error({ err: error }, 'a streamed list failed')),
    200,
    { 'Content-Type': mediaType(c.get('version')), Vary: 'Accept', ...headers },
  );
}

interface Source<Row> {
  find(slice: Slice): Promise<Part<Row>>;
  json(entries: readonly Entry<Row>[]): Promise<unknown[]>;
}

async function* restOf<Row>(
  source: Source<Row>,
  start: { rows: unknown[]; last: Key | undefined; left: number },
): AsyncGenerator<unknown[]> {
  yield start.rows;
  let { last, left } = start;
  while (last && left > 0) {
    const take = Math.min(left, BATCH);
    const { entries } = await source.find({ position: { side: 'after', key: last }, skip: 0, take });
    yield await source.json(entries);
    left -= entries.length;
    last = entries.length < take ? undefined : entries.at(-1)?.key;
  }
}

/** A count is at least the number of rows seen. */
function atLeast(total: Total, seen: number): Total {
  return total.count < seen ? { count: seen, exact: false } : total;
}
