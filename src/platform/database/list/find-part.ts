import type { Expression, SqlBool } from 'kysely';
import type { Queryable } from '../kysely.ts';
import {
  countAmong,
  countUpTo,
  type Drivers,
  estimateRows,
  type FirstRows,
  gather,
  gatherFew,
  readFirstRows,
  readIndex,
  walkOrder,
} from './list-statements.ts';
import {
  type Check,
  driverOf,
  type Entry,
  type IndexedList,
  indexedList,
  type Listing,
  type Part,
  type Slice,
  type Total,
} from './listing.ts';

/** The most rows that are read only to be counted. */
export const COUNTED = 1000;
/** The first look at a list reads at least this many rows, and this many for each wanted row. */
const FIRST_ROWS = 100;
const FIRST_ROWS_PER_ROW = 5;
/** With more matches than this, walking past many rows is cheaper than sorting all matches. */
const FEW = 5000;
/** A test is selective when less than this share of the rows pass it. */
const SELECTIVE = 0.05;
/** This many matches among the first rows allow an estimate; fewer may be chance. */
const ENOUGH_MATCHES = 3;
/** A walk stops at this many times the rows it was estimated to take. */
const WALK_FACTOR = 1.5;
/** The most walks. Each one improves the estimate for the next. */
const MAX_WALKS = 3;

interface Found<Shown> {
  entries: Entry<Shown>[];
  total?: Total | undefined;
}

/**
 * Finds a part of a list without scanning the table. If the index of the order serves all filters, it is read from the
 * wanted position on. If the principal may read few rows, these are gathered. Otherwise a first look at some rows, or
 * else the planner's estimate, shows whether much matches: then a walk along the order fills the page. When little
 * matches, the indexes of the filters return all matches, and these are sorted. The planner alone assumes that matches
 * are spread evenly over the order, and scans where they are not.
 */
export async function findPart<Shown>(
  database: Queryable,
  listing: Listing<Shown>,
  slice: Slice,
): Promise<Part<Shown>> {
  const { entries, total } = await findInReadingOrder(indexedList(database, listing), slice);
  return {
    entries: slice.position?.side === 'before' ? entries.toReversed() : entries,
    total: total ?? { count: slice.position ? entries.length : slice.skip + entries.length, exact: false },
  };
}

/** Counts the rows of a list, up to `most`, for clients that need more than the total of a part. */
export function countRows(database: Queryable, listing: Listing, most: number): Promise<number> {
  return countUpTo(indexedList(database, listing), most);
}

async function findInReadingOrder<Shown>(list: IndexedList<Shown>, slice: Slice): Promise<Found<Shown>> {
  if (list.checked.length === 0) return read(list, slice);
  const certain = list.checked.filter(({ few }) => few);
  if (certain.length > 0) return gather(list, slice, splitTests(list, certain));
  if (!list.access) return search(list, slice);
  const few = await gatherReadable(list, slice, list.access);
  if (few) return few;
  const found = await search(list, slice);
  return { ...found, total: showsEnd(found, slice) ? found.total : undefined };
}

async function read<Shown>(list: IndexedList<Shown>, slice: Slice): Promise<Found<Shown>> {
  const { entries, counted } = await readIndex(list, slice, COUNTED + 1);
  const count = counted ?? (await countAmong(list, COUNTED + 1)).matched;
  if (count <= COUNTED) return { entries, total: { count, exact: true } };
  const ended = showsEnd({ entries }, slice) && entries.length > 0;
  return {
    entries,
    total: ended ? countedFromStart(slice, slice.skip + entries.length) : { count, exact: false },
  };
}

/** Gathers all rows that the principal may read; undefined when they are many. */
async function gatherReadable<Shown>(
  list: IndexedList<Shown>,
  slice: Slice,
  access: Expression<SqlBool>,
): Promise<Found<Shown> | undefined> {
  const estimated = await estimateRows({ ...list, served: [access], checked: [] });
  if (estimated > FEW) return undefined;
  const others = [...list.served, ...list.checked.map(({ test }) => test)].filter((test) => test !== access);
  const found = await gatherFew(list, slice, { drivers: [access], others, most: FEW });
  if (!found) return undefined;
  const told = found.met <= COUNTED || showsEnd(found.part, slice);
  return { ...found.part, total: told ? found.part.total : undefined };
}

/**
 * Reports whether a part shows the end of its list. Only then does a principal with restricted access get the total:
 * the way a page is found depends on rows that it must not know of.
 */
function showsEnd({ entries }: Pick<Found<unknown>, 'entries'>, { take }: Slice): boolean {
  return entries.length < take;
}

async function search<Shown>(list: IndexedList<Shown>, slice: Slice): Promise<Found<Shown>> {
  const amongServed = list.checked.filter((check) => check.amongServed);
  if (amongServed.length > 0) {
    const found = await gatherFew(list, slice, { ...splitTests(list, amongServed), most: COUNTED });
    if (found) return found.part;
  }
  const wanted = slice.skip + slice.take;
  const budget = Math.max(FIRST_ROWS, Math.min(wanted, COUNTED) * FIRST_ROWS_PER_ROW);
  const first = await readFirstRows(list, slice, budget);
  if (first.looked < budget) return { entries: first.entries, total: countedFromStart(slice, first.matched) };
  const found: Found<Shown> = first.matched >= wanted ? { entries: first.entries } : await searchOn(list, slice, first);
  if (found.total || first.tableSize > COUNTED) return found;
  const { looked, matched } = await countAmong(list, COUNTED + 1);
  return { ...found, total: { count: matched, exact: looked <= COUNTED } };
}

async function searchOn<Shown>(list: IndexedList<Shown>, slice: Slice, first: FirstRows<Shown>): Promise<Found<Shown>> {
  const { cheapest, rare } = chooseDrivers(list, first);
  const few = Math.max(FEW, slice.skip + slice.take);
  const walkWith = (density: number) => walkOn(list, slice, { ...first, density });
  if (first.matched >= ENOUGH_MATCHES) {
    const found = await walkWith(densityOf(first.matched, first.looked));
    return found ?? gather(list, slice, rare);
  }
  const density = (await estimateRows(list)) / first.tableSize;
  return (
    (await walkWith(density)) ??
    (await gatherFew(list, slice, { ...cheapest, most: few }))?.part ??
    (density < few / first.tableSize ? await walkWith(few / first.tableSize) : undefined) ??
    (await gather(list, slice, rare))
  );
}

/** Chooses the tests to find rows by: selective ones, and of these first the ones whose index is cheap. */
function chooseDrivers(
  list: IndexedList,
  { passed, looked }: FirstRows<unknown>,
): Record<'cheapest' | 'rare', Drivers> {
  const { checked } = list;
  const least = Math.min(...passed);
  const rare = checked.filter((_, i) => {
    const rows = passed[i] ?? 0;
    return rows === least || rows < looked * SELECTIVE;
  });
  const cheap = rare.filter(({ costly }) => !costly);
  const alone = { ...list, served: [], checked: [...list.served.map((test) => ({ test })), ...checked] };
  return {
    cheapest: cheap.length > 0 ? splitTests(alone, cheap) : splitTests(list, rare),
    rare: splitTests(list, rare),
  };
}

/** Finds rows by the chosen tests and those that an index serves. */
function splitTests({ served, checked }: IndexedList, chosen: readonly Check[]): Drivers {
  return {
    drivers: [...served, ...chosen.map(driverOf)],
    others: checked.filter((check) => !chosen.includes(check)).map(({ test }) => test),
  };
}

/** Continues after the first look; undefined when sorting all matches seems cheaper. */
async function walkOn<Shown>(
  list: IndexedList<Shown>,
  slice: Slice,
  start: FirstRows<Shown> & { density: number },
): Promise<Found<Shown> | undefined> {
  const { last, tableSize } = start;
  if (!last) return undefined;
  const rest = {
    position: { side: slice.position?.side ?? ('after' as const), key: last },
    skip: Math.max(0, slice.skip - start.matched),
    take: slice.take - start.entries.length,
  };
  let { density } = start;
  for (let tries = 0; tries < MAX_WALKS; tries += 1) {
    const ahead = (rest.skip + rest.take) / density;
    if (!(ahead <= density * tableSize)) return undefined;
    const budget = Math.ceil(ahead * WALK_FACTOR) + FIRST_ROWS;
    const entries = await walkOrder(list, rest, budget);
    if (entries.length === rest.take) return { entries: [...start.entries, ...entries] };
    if (entries.length < ENOUGH_MATCHES) return undefined;
    density = densityOf(rest.skip + entries.length, budget);
  }
  return undefined;
}

/** Returns a cautious estimate of the share of matching rows. */
function densityOf(matched: number, looked: number): number {
  return (matched - Math.sqrt(matched)) / looked;
}

/** A count from a position inside the list says nothing about its total. */
function countedFromStart({ position }: Slice, count: number): Total | undefined {
  return position ? undefined : { count, exact: true };
}
