import { SourceError, SourceUnusable } from './catalogue-source.ts';

/** An item of a list that is in the order of time. */
export interface ListedItem {
  id: string;
  /** In milliseconds since 1970; undefined if the item has none. */
  time: number | undefined;
}

/** The part of a list to answer. */
export interface PageRequest {
  /** The earliest time, to the second; undefined for the whole list. */
  from: Date | undefined;
  /** The number of items to leave out. */
  offset: number;
}

export interface WalkOptions<T extends ListedItem> {
  /** Returns a page: the first items of the part of the list, by time; none behind its end. */
  page: (request: PageRequest) => Promise<T[]>;
  /** The most items of a page. The server may answer fewer. */
  limit: number;
  since?: Date | undefined;
  onWarning: (message: string) => void;
}

/** Servers refuse years that are not of four digits. */
const EARLIEST = new Date('1000-01-01T00:00:00Z');
/** The end of the period of each page. */
export const LATEST = new Date('9999-12-30T00:00:00Z');
const SECOND_MS = 1000;
/** The reference server answers nothing beyond so many items. */
const SEARCH_WINDOW = 16_000;

/**
 * Walks a list by time: each page begins with the second of the last item before it, because servers with a search index
 * answer no deep offsets. Items are answered once, also if others are added during the walk; an item whose time changes
 * during the walk may come twice.
 *
 * @throws {SourceUnusable} for a server that does not filter or sort
 */
export async function* walkByTime<T extends ListedItem>(options: WalkOptions<T>): AsyncGenerator<T> {
  const { page, limit, since, onWarning } = options;
  let from = since ?? EARLIEST;
  let offset = 0;
  let count = 0;
  const seen = new SeenItems(from);
  if (!since) yield* walkEarly(options);
  for (;;) {
    const items = await page({ from, offset }).catch((error) => skipDeep(error, offset));
    for (const item of items ?? []) {
      if (!seen.add(item)) continue;
      count += 1;
      yield item;
    }
    if (!items) {
      onWarning(`Only the first ${offset} items of ${from.toISOString()} can be read: the source answers no more.`);
      from = new Date(seen.second + SECOND_MS);
      offset = 0;
    } else if (items.length === 0) break;
    // A short page is the last, unless the server answers fewer items than requested: then the next page begins behind it.
    else if (seen.second > from.getTime() && (items.length === limit || offset > 0)) {
      from = new Date(seen.second);
      offset = 0;
    } else offset += items.length;
  }
  if (!since) yield* walkTimeless(options, count);
}

/** Walks the items of years that no filter by time finds because they are too early. */
async function* walkEarly<T extends ListedItem>({ page, limit }: WalkOptions<T>): AsyncGenerator<T> {
  for (let offset = 0; offset + limit <= SEARCH_WINDOW; ) {
    const items = (await page({ from: undefined, offset }).catch((error) => skipDeep(error, offset))) ?? [];
    const early = items.filter(({ time }) => time !== undefined && time < EARLIEST.getTime());
    yield* early;
    if (early.length === 0 || early.length < items.length) return;
    offset += items.length;
  }
}

/** Returns undefined for a page that is too deep. @throws {SourceUnusable} for the first page */
function skipDeep(error: unknown, offset: number): undefined {
  if (!(error instanceof SourceError)) throw error;
  if (offset === 0) throw new SourceUnusable(error.message);
}

/**
 * Walks the items without a time or with one that no filter by time finds because it is too late. They come last.
 *
 * @param count the number of items with a time
 */
async function* walkTimeless<T extends ListedItem>(
  { page, limit, onWarning }: WalkOptions<T>,
  count: number,
): AsyncGenerator<T> {
  const seen = new Set<string>();
  let last: string | undefined;
  // Some may have been deleted during the walk.
  for (let offset = Math.max(0, count - limit); ; ) {
    const isDeep = offset + limit > SEARCH_WINDOW;
    const items = isDeep
      ? undefined
      : await page({ from: undefined, offset }).catch((error) => skipDeep(error, offset));
    if (!items)
      return onWarning(`Items without a date, if any, are not read: the list has more than ${offset} others.`);
    for (const item of items) {
      if ((item.time !== undefined && item.time < LATEST.getTime()) || seen.has(item.id)) continue;
      seen.add(item.id);
      yield item;
    }
    // A server that ignores offsets answers one page for ever.
    if (items.length === 0 || items.at(-1)?.id === last) return;
    last = items.at(-1)?.id;
    offset += items.length;
  }
}

/** Walks a list by offsets, for lists without a filter by time. It ends when the list ignores offsets, too. */
export async function* walkByOffset<T extends ListedItem>(options: WalkOptions<T>): AsyncGenerator<T> {
  const { page, onWarning } = options;
  const seen = new Set<string>();
  for (let offset = 0; ; ) {
    const items = await page({ from: undefined, offset }).catch((error) => skipDeep(error, offset));
    if (!items) return onWarning(`Only the first ${offset} items can be read: the source answers no more.`);
    const before = seen.size;
    for (const item of items) {
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      if (!isBefore(item, options.since)) yield item;
    }
    if (seen.size === before) return;
    offset += items.length;
  }
}

const isBefore = ({ time }: ListedItem, since: Date | undefined) =>
  since !== undefined && (time === undefined || time < since.getTime());

/** Remembers the items of the latest second, and holds the list to its order. */
class SeenItems {
  /** The latest second, in milliseconds. */
  second: number;
  readonly #ids = new Set<string>();

  constructor(from: Date) {
    this.second = toSecond(from.getTime());
  }

  /** Returns false for an item that was added before. @throws {SourceUnusable} for an earlier one */
  add({ id, time }: ListedItem): boolean {
    const second = time === undefined ? this.second : toSecond(time);
    if (second < this.second) throw new SourceUnusable(`${UNSORTED} "${id}" comes too late.`);
    if (second > this.second) this.#ids.clear();
    this.second = second;
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    return true;
  }
}

const toSecond = (ms: number) => Math.floor(ms / SECOND_MS) * SECOND_MS;
const UNSORTED = 'The source does not list its items in the order of their dates, so they cannot be read completely:';
