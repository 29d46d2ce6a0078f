import type { Queryable } from '../kysely.ts';
import { type Drivers, gather, gatherFew } from './gather.ts';
import type { Check, List, Part, Slice, Total } from './list.ts';
import { countAmong, estimate, type Look, look, readOn, walk } from './read.ts';

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
/** Walking on ends at this many times the rows it should have taken. */
const PATIENCE = 1.5;

/**
 * Finds a part of a list without scanning the table, whatever the filters are. Where the index of the order serves all
 * of them, it is read from the wanted place on. Otherwise a first look at some rows in order tells whether much
 * matches, or else the planner's estimate does: then walking on fills the page. When little does, the indexes of the filters give all matches, and these are
 * sorted. The planner, left alone, takes matches for spread evenly over the order, and scans where they are not.
 */
export async function findPart(database: Queryable, list: List, slice: Slice): Promise<Part> {
  const part =
    list.checked.length > 0 ? await search(database, list, slice) : await read(database, list, slice);
  const keys = slice.position?.side === 'before' ? part.keys.toReversed() : part.keys;
  // Which way led to the page depends on rows that not everybody may know of; that the list ends does not.
  const told = list.access === undefined || keys.length < slice.take;
  return { keys, total: told ? part.total : undefined };
}

/**
 * The length of a list, as far as counting it costs little: exact when the table, or what somebody may see of it, is
 * small. What they may not see has no part in it.
 */
export async function countList(database: Queryable, { access, ...list }: List): Promise<Total> {
  const among = access
    ? { ...list, served: [access], checked: [...list.served.map((test) => ({ test })), ...list.checked] }
    : list;
  const { looked, matched } = await countAmong(database, among, COUNTED + 1);
  return { count: matched, exact: looked <= COUNTED };
}

async function read(database: Queryable, list: List, slice: Slice): Promise<Part> {
  const keys = await readOn(database, list, slice);
  const ended = keys.length < slice.take && (keys.length > 0 || slice.skip === 0);
  return { keys, total: ended ? countedFromStart(slice, slice.skip + keys.length) : undefined };
}

async function search(database: Queryable, list: List, slice: Slice): Promise<Part> {
  const certain = list.checked.filter(({ few }) => few);
  if (certain.length > 0) return gather(database, list, slice, split(list, certain));
  const wanted = slice.skip + slice.take;
  const budget = Math.max(GLANCE, Math.min(wanted, COUNTED) * GLANCE_PER_ROW);
  const first = await look(database, list, slice, budget);
  if (first.looked < budget) return { keys: first.keys, total: countedFromStart(slice, first.matched) };
  if (first.matched >= wanted) return { keys: first.keys, total: undefined };
  const { cheapest, rare } = drivers(list, first);
  const few = Math.max(FEW, wanted);
  const goOn = (density: number) => walkOn(database, list, slice, { ...first, density });
  if (first.matched >= TELLING) {
    const part = await goOn((first.matched - Math.sqrt(first.matched)) / first.looked);
    return part ?? gather(database, list, slice, rare);
  }
  const density = (await estimate(database, list)) / first.tableSize;
  return (
    (await goOn(density)) ??
    (await gatherFew(database, list, slice, { ...cheapest, most: few })) ??
    (density < few / first.tableSize ? await goOn(few / first.tableSize) : undefined) ??
    (await gather(database, list, slice, rare))
  );
}

/** Which tests to find rows by: rare ones, and of these at first those whose index costs little. */
function drivers(list: List, { passed, looked }: Look): Record<'cheapest' | 'rare', Drivers> {
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
 * Goes on from where the first look ended, unless sorting all matches promises to be cheaper.
 *
 * @param start what the first look has found, and which share of the rows seems to match
 * @returns undefined when that does not lead to the end of the slice
 */
async function walkOn(
  database: Queryable,
  list: List,
  slice: Slice,
  start: Look & { density: number },
): Promise<Part | undefined> {
  const { last, density, tableSize } = start;
  const ahead = (slice.skip + slice.take - start.matched) / density;
  if (!last || !(ahead <= density * tableSize)) return undefined;
  const rest = {
    position: { side: slice.position?.side ?? ('after' as const), key: last },
    skip: Math.max(0, slice.skip - start.matched),
    take: slice.take - start.keys.length,
  };
  const keys = await walk(database, list, rest, Math.ceil(ahead * PATIENCE) + GLANCE);
  return keys.length < rest.take ? undefined : { keys: [...start.keys, ...keys], total: undefined };
}

/** What has been counted from a place within the list on says nothing about its length. */
function countedFromStart({ position }: Slice, count: number): Total | undefined {
  return position ? undefined : { count, exact: true };
}
