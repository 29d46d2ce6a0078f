import type { Context } from 'hono';
import type { Entry, Part, Slice, Total } from '../../database/list/list.ts';
import type { Key, Order } from '../../database/list/order.ts';
import { mediaType, versionedJson } from '../version.ts';
import { streamedArray } from './json-stream.ts';
import { pageHeaders } from './links.ts';
import type { PageRequest } from './page-request.ts';

/** Rows that are loaded at once, and so the most that is ever held in memory. */
const BATCH = 500;

/** Where the rows of a list come from. */
export interface ListSource<Shown> {
  order: Order;
  find(slice: Slice): Promise<Part<Shown>>;
  /** The JSON of rows. */
  json(rows: Shown[]): Promise<unknown[]>;
}

/**
 * Answers with a page of a list: in one piece, or streamed in batches when it is long. A long one is found batch by
 * batch as the client takes it, so that it costs no more memory than a short one.
 *
 * @param url of the list, as clients address it, without its query
 */
export async function answerList<Shown>(
  c: Context,
  url: string,
  page: PageRequest,
  source: ListSource<Shown>,
): Promise<Response> {
  const { offset, position } = page;
  const backwards = position?.side === 'before';
  const limit = Math.min(
    page.limit ?? Number.POSITIVE_INFINITY,
    backwards ? BATCH : Number.POSITIVE_INFINITY,
  );
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
  const rows = await source.json(shownOf(entries));
  const headers = pageHeaders(url, new URL(c.req.url).searchParams, {
    page,
    order: source.order,
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
    streamedArray(batches, (error) => c.var.log.error({ err: error }, 'a streamed list broke off')),
    200,
    { 'Content-Type': mediaType(c.var.version), Vary: 'Accept', ...headers },
  );
}

async function* restOf<Shown>(
  source: ListSource<Shown>,
  start: { rows: unknown[]; last: Key | undefined; left: number },
): AsyncGenerator<unknown[]> {
  yield start.rows;
  let { last, left } = start;
  while (last && left > 0) {
    const take = Math.min(left, BATCH);
    const { entries } = await source.find({ position: { side: 'after', key: last }, skip: 0, take });
    yield await source.json(shownOf(entries));
    left -= entries.length;
    last = entries.length < take ? undefined : entries.at(-1)?.key;
  }
}

/** What has been counted is no less than what has been seen. */
function atLeast(total: Total, seen: number): Total {
  return total.count < seen ? { count: seen, exact: false } : total;
}

function shownOf<Shown>(entries: readonly Entry<Shown>[]): Shown[] {
  return entries.map(({ shown }) => shown);
}
