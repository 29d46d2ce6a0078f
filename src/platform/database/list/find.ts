import type { Expression, SqlBool } from 'kysely';
import type { Queryable } from '../kysely.ts';
import { type Check, type List, listOf } from './list.ts';
import type { Entry, Listing, Part, Slice, Total } from './listing.ts';
import { countAmong, type Drivers, estimate, gather, gatherFew, type Look, look, readOn, walk } from './statements.ts';

/** At most so many rows are looked at only to be counted. */
export const COUNTED = 1000;
/** The first look at a list takes at least so many rows, and so many for each one wanted. */
const GLANCE = 100;
const GLANCE_PER_ROW = 5;
/** More matches than these are worth walking past many rows instead of sorting all of them. */
const FEW = 5000;
/** A test that fewer of the rows pass is one to find rows by. */
const RARE = 0.05;
/** So many matches among the first rows tell how many there are; fewer may be luck. */
const TELLING = 3;
/** A walk ends at this many times the rows it should have taken. */
const PATIENCE = 1.5;
/** So many walks, each told better by the one before how far it has to go. */
const TRIES = 3;

/** A part whose length may be unknown. */
interface Found<Shown> {
  entries: Entry<Shown>[];
  total?: Total | undefined;
}

/**
 * Finds a part of a list without scanning the table, whatever the filters are. Where the index of the order serves all
 * of them, it is read from the wanted place on; somebody who may read few rows has these gathered, and so has whoever
 * wants a value's stretch of another order, if that is short. Otherwise a first look at some rows in order tells
 * whether much matches, or else the planner's estimate does: then walking on fills the page. When little does, the
 * indexes of the filters give all matches, and these are sorted. The planner, left alone, takes matches for spread
 * evenly over the order, and scans where they are not.
 */
export async function findPart<Shown>(
  database: Queryable,
  listing: Listing<Shown>,
  slice: Slice,
): Promise<Part<Shown>> {
  const { entries, total } = await findInReadingOrder(database, listOf(database, listing), slice);
  return {
    entries: slice.position?.side === 'before' ? entries.toReversed() : entries,
    total: total ?? { count: slice.position ? entries.length : slice.skip + entries.length, exact: false },
  };
}

async function findInReadingOrder<Shown>(database: Queryable, list: List<Shown>, slice: Slice): Promise<Found<Shown>> {
  if (list.checked.length === 0) return read(database, list, slice);
  const certain = list.checked.filter(({ few }) => few);
  if (certain.length > 0) return gather(database, list, slice, split(list, certain));
  if (!list.access) return search(database, list, slice);
  const few = await gatherReadable(database, list, slice, list.access);
  if (few) return few;
  const found = await search(database, list, slice);
  return { ...found, total: tellsEnd(found, slice) ? found.total : undefined };
}

async function read<Shown>(database: Queryable, list: List<Shown>, slice: Slice): Promise<Found<Shown>> {
  const { entries, counted } = await readOn(database, list, slice, COUNTED + 1);
  const count = counted ?? (await countAmong(database, list, COUNTED + 1)).matched;
  if (count <= COUNTED) return { entries, total: { count, exact: true } };
  const ended = tellsEnd({ entries }, slice) && entries.length > 0;
  return {
    entries,
    total: ended ? countedFromStart(slice, slice.skip + entries.length) : { count, exact: false },
  };
}

/**
 * Gathers all rows that somebody may read, when these are few: most of what an order meets would be other people's.
 *
 * @returns undefined when they are many
 */
async function gatherReadable<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  access: Expression<SqlBool>,
): Promise<Found<Shown> | undefined> {
  const estimated = await estimate(database, { ...list, served: [access], checked: [] });
  if (estimated > FEW) return undefined;
  const others = [...list.served, ...list.checked.map(({ test }) => test)].filter((test) => test !== access);
  const found = await gatherFew(database, list, slice, { drivers: [access], others, most: FEW });
  if (!found) return undefined;
  const told = found.met <= COUNTED || tellsEnd(found.part, slice);
  return { ...found.part, total: told ? found.part.total : undefined };
}

/**
 * Whether a part shows where its list ends. Somebody who may not read everything hears of the length then, and when what
 * they may read is little: the way by which a page is found depends on rows that they must not know of.
 */
function tellsEnd({ entries }: Pick<Found<unknown>, 'entries'>, { take }: Slice): boolean {
  return entries.length < take;
}

async function search<Shown>(database: Queryable, list: List<Shown>, slice: Slice): Promise<Found<Shown>> {
  const amongServed = list.checked.filter((check) => check.amongServed);
  if (amongServed.length > 0) {
    const found = await gatherFew(database, list, slice, { ...split(list, amongServed), most: COUNTED });
    if (found) return found.part;
  }
  const wanted = slice.skip + slice.take;
  const budget = Math.max(GLANCE, Math.min(wanted, COUNTED) * GLANCE_PER_ROW);
  const first = await look(database, list, slice, budget);
  if (first.looked < budget) return { entries: first.entries, total: countedFromStart(slice, first.matched) };
  const found: Found<Shown> =
    first.matched >= wanted ? { entries: first.entries } : await searchOn(database, list, slice, first);
  if (found.total || first.tableSize > COUNTED) return found;
  const { looked, matched } = await countAmong(database, list, COUNTED + 1);
  return { ...found, total: { count: matched, exact: looked <= COUNTED } };
}

/** Finds what the first look has not. */
async function searchOn<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  first: Look<Shown>,
): Promise<Found<Shown>> {
  const { cheapest, rare } = drivers(list, first);
  const few = Math.max(FEW, slice.skip + slice.take);
  const goOn = (density: number) => walkOn(database, list, slice, { ...first, density });
  if (first.matched >= TELLING) {
    const found = await goOn(densityOf(first.matched, first.looked));
    return found ?? gather(database, list, slice, rare);
  }
  const density = (await estimate(database, list)) / first.tableSize;
  return (
    (await goOn(density)) ??
    (await gatherFew(database, list, slice, { ...cheapest, most: few }))?.part ??
    (density < few / first.tableSize ? await goOn(few / first.tableSize) : undefined) ??
    (await gather(database, list, slice, rare))
  );
}

/** Which tests to find rows by: rare ones, and of these at first those whose index costs little. */
function drivers(list: List, { passed, looked }: Look<unknown>): Record<'cheapest' | 'rare', Drivers> {
  const { checked } = list;
  const least = Math.min(...passed);
  const rare = checked.filter((_, i) => {
    const rows = passed[i] ?? 0;
    return rows === least || rows < looked * RARE;
  });
  const cheap = rare.filter(({ costly }) => !costly);
  const alone = { ...list, served: [], checked: [...list.served.map((test) => ({ test })), ...checked] };
  return { cheapest: cheap.length > 0 ? split(alone, cheap) : split(list, rare), rare: split(list, rare) };
}

/** To find rows by the chosen tests and what an index serves anyhow. */
function split({ served, checked }: List, chosen: readonly Check[]): Drivers {
  return {
    drivers: [...served, ...chosen.map(({ test }) => test)],
    others: checked.filter((check) => !chosen.includes(check)).map(({ test }) => test),
  };
}

/**
 * Goes on from where the first look ended, as long as sorting all matches does not promise to be cheaper.
 *
 * @param start what the first look has found, and which share of the rows seems to match
 * @returns undefined when that does not lead to the end of the slice
 */
async function walkOn<Shown>(
  database: Queryable,
  list: List<Shown>,
  slice: Slice,
  start: Look<Shown> & { density: number },
): Promise<Found<Shown> | undefined> {
  const { last, tableSize } = start;
  if (!last) return undefined;
  const rest = {
    position: { side: slice.position?.side ?? ('after' as const), key: last },
    skip: Math.max(0, slice.skip - start.matched),
    take: slice.take - start.entries.length,
  };
  let { density } = start;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const ahead = (rest.skip + rest.take) / density;
    if (!(ahead <= density * tableSize)) return undefined;
    const budget = Math.ceil(ahead * PATIENCE) + GLANCE;
    const entries = await walk(database, list, rest, budget);
    if (entries.length === rest.take) return { entries: [...start.entries, ...entries] };
    if (entries.length < TELLING) return undefined;
    density = densityOf(rest.skip + entries.length, budget);
  }
  return undefined;
}

/** Which share of the rows matches, cautiously. */
function densityOf(matched: number, looked: number): number {
  return (matched - Math.sqrt(matched)) / looked;
}

/** What has been counted from a place within the list on says nothing about its length. */
function countedFromStart({ position }: Slice, count: number): Total | undefined {
  return position ? undefined : { count, exact: true };
}
