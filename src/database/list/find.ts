import { type SqlBool, sql } from 'kysely';
import type { Queryable } from '../kysely.ts';
import type { Check, List, Part, Slice, Total } from './list.ts';
import { countAmong, gather, readOn, type Walked, walk } from './read.ts';

/** At most so many rows are looked at only to be counted. */
export const COUNTED = 1000;
/** The first look at a list takes at least so many rows, and so many for each one wanted. */
const GLANCE = 100;
const GLANCE_PER_ROW = 5;
/** More matches than these are worth walking past many rows instead of sorting all of them. */
const FEW = 5000;
/** A test that fewer of the rows pass is one to find rows by. */
const RARE = 0.05;
/** Walking on ends at this many times the rows it should have taken. */
const PATIENCE = 1.5;

/**
 * Finds a part of a list without scanning the table, whatever the filters are. Where the index of the order serves all
 * of them, it is read from the wanted place on. Otherwise a first look at some rows in order tells whether much
 * matches: then walking on fills the page. When little does, the indexes of the filters give all matches, and these are
 * sorted. The planner, left alone, takes matches for spread evenly over the order, and scans where they are not.
 */
export async function findPart(database: Queryable, list: List, slice: Slice): Promise<Part> {
  const part =
    list.checked.length > 0 ? await search(database, list, slice) : await read(database, list, slice);
  return slice.position?.side === 'before' ? { ...part, keys: part.keys.toReversed() } : part;
}

/** The length of a list, as far as counting it costs little. */
export async function countList(database: Queryable, list: List): Promise<Total> {
  const { looked, matched } = await countAmong(database, list, COUNTED + 1);
  return { count: matched, exact: looked <= COUNTED };
}

async function read(database: Queryable, list: List, slice: Slice): Promise<Part> {
  const keys = await readOn(database, list, slice);
  const ended = keys.length < slice.take && (keys.length > 0 || slice.skip === 0);
  return { keys, total: ended ? countedFromStart(slice, slice.skip + keys.length) : undefined };
}

async function search(database: Queryable, list: List, slice: Slice): Promise<Part> {
  const wanted = slice.skip + slice.take;
  const budget = Math.max(GLANCE, Math.min(wanted, COUNTED) * GLANCE_PER_ROW);
  const tests = list.checked.map(({ test }) => test);
  const first = await walk(database, list, slice, { tests, budget });
  if (first.looked < budget) return { keys: first.keys, total: countedFromStart(slice, first.matched) };
  if (first.matched >= wanted) return { keys: first.keys, total: undefined };
  const { cheapest, rare } = drivers(list, first);
  const few = Math.max(FEW, wanted);
  // A few matches may be luck.
  const density = Math.max(0.5, first.matched - Math.sqrt(first.matched)) / first.looked;
  return (
    (first.matched > 0 && (await walkOn(database, list, slice, first, density))) ||
    (await gather(database, list, slice, { ...cheapest, most: few })) ||
    (first.matched === 0 && (await walkOn(database, list, slice, first, few / first.tableSize))) ||
    (await gather(database, list, slice, rare)) || { keys: [], total: undefined }
  );
}

/** Which tests to find rows by: rare ones, and of these at first those whose index costs little. */
function drivers({ checked }: List, { passed, looked }: Walked) {
  const least = Math.min(...passed);
  const rare = checked.filter((_, i) => {
    const rows = passed[i] ?? 0;
    return rows === least || rows < looked * RARE;
  });
  const cheap = rare.filter(({ costly }) => !costly);
  const split = (chosen: readonly Check[]) => ({
    drivers: chosen.map(({ test }) => test),
    others: checked.filter((check) => !chosen.includes(check)).map(({ test }) => test),
  });
  return { cheapest: split(cheap.length > 0 ? cheap : rare), rare: split(rare) };
}

/**
 * Goes on from where the first look ended, unless sorting all matches promises to be cheaper.
 *
 * @param density which share of the rows seems to match
 * @returns undefined when that does not lead to the end of the slice
 */
async function walkOn(
  database: Queryable,
  list: List,
  slice: Slice,
  first: Walked,
  density: number,
): Promise<Part | undefined> {
  const missing = slice.skip + slice.take - first.matched;
  const ahead = missing / density;
  if (!first.last || !(ahead <= density * first.tableSize)) return undefined;
  const budget = Math.ceil(ahead * PATIENCE) + GLANCE;
  const rest = {
    position: { side: slice.position?.side ?? ('after' as const), key: first.last },
    skip: Math.max(0, slice.skip - first.matched),
    take: slice.take - first.keys.length,
  };
  const tests = [
    sql<SqlBool>`(${sql.join(
      list.checked.map(({ test }) => test),
      sql` AND `,
    )})`,
  ];
  const { keys, matched, looked } = await walk(database, list, rest, { tests, budget });
  const ended = looked < budget;
  if (!ended && matched < missing) return undefined;
  const total = ended ? countedFromStart(slice, first.matched + matched) : undefined;
  return { keys: [...first.keys, ...keys], total };
}

/** What has been counted from a place within the list on says nothing about its length. */
function countedFromStart({ position }: Slice, count: number): Total | undefined {
  return position ? undefined : { count, exact: true };
}
