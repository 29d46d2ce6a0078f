import { describe, expect, test } from 'vitest';
import { SourceError, SourceUnusable } from './catalogue-source.ts';
import { type ListedItem, type PageRequest, walkByOffset, walkByTime } from './walk.ts';

const LIMIT = 3;
const at = (second: number) => Date.UTC(2020, 0, 1, 0, 0, second);
const item = (id: string, second?: number): ListedItem => ({
  id,
  time: second === undefined ? undefined : at(second),
});

/** A server that lists by time, answers nothing beyond its window, and remembers what was requested. */
function listOf(items: ListedItem[], window = 1000, cap = LIMIT) {
  const requests: PageRequest[] = [];
  const page = async (request: PageRequest) => {
    requests.push(request);
    const { from, offset } = request;
    if (offset + LIMIT > window) throw new SourceError('The list cannot be read.');
    const sorted = items.toSorted(
      (a, b) => (a.time ?? Number.POSITIVE_INFINITY) - (b.time ?? Number.POSITIVE_INFINITY),
    );
    const listed = from ? sorted.filter(({ time }) => time !== undefined && time >= from.getTime()) : sorted;
    return listed.slice(offset, offset + cap);
  };
  return { page, requests };
}

async function walked(items: AsyncIterable<ListedItem>) {
  const ids: string[] = [];
  for await (const { id } of items) ids.push(id);
  return ids.join('');
}

function options(list: Pick<ReturnType<typeof listOf>, 'page'>, since?: Date) {
  const warnings: string[] = [];
  return { page: list.page, limit: LIMIT, since, warnings, onWarning: (warning: string) => warnings.push(warning) };
}

const letters = (text: string, second: (i: number) => number | undefined) =>
  [...text].map((id, i) => item(id, second(i)));

describe('walkByTime', () => {
  test.each<[string, string, (i: number) => number | undefined]>([
    ['an empty list', '', () => 0],
    ['less than a page', 'ab', (i) => i],
    ['full pages', 'abcdef', (i) => i],
    ['pages that end within a second', 'abcdefghij', (i) => Math.floor(i / 2)],
    ['one second', 'abcdefghij', () => 7],
    ['one second between others', 'abcdefghij', (i) => (i > 1 && i < 9 ? 5 : i)],
    ['no dates', 'abcdefgh', () => undefined],
    ['some without dates', 'abcdefgh', (i) => (i > 4 ? undefined : i)],
  ])('returns each item once, in the order of time: %s', async (_, text, second) => {
    expect(await walked(walkByTime(options(listOf(letters(text, second)))))).toBe(text);
  });

  test.each<[string, (i: number) => number | undefined]>([
    ['by time', (i) => Math.floor(i / 3)],
    ['within one second', () => 5],
    ['without dates', () => undefined],
    ['too early for a filter', (i) => -1e11 + i],
  ])('returns each item of a server whose pages are smaller than requested: %s', async (_, second) => {
    expect(await walked(walkByTime(options(listOf(letters('abcdefgh', second), 1000, 2))))).toBe('abcdefgh');
  });

  test('uses offsets only within one second', async () => {
    const list = listOf(letters('abcdefghijklmnop', (i) => (i > 2 && i < 10 ? 5 : i)));
    await walked(walkByTime(options(list, new Date(at(0)))));
    const deep = list.requests.filter(({ offset }) => offset > 0);
    expect(deep.map(({ from, offset }) => [from?.getTime(), offset])).toEqual([
      [at(5), 3],
      [at(5), 6],
      [at(15), 1],
    ]);
  });

  test('returns items that are added during the walk behind its place, and none twice', async () => {
    const items = letters('acegikm', (i) => i * 2);
    const walk = walkByTime(options(listOf(items)));
    const ids: string[] = [];
    for await (const { id } of walk) {
      ids.push(id);
      // The next letter, a second later; the page that is being read does not have it.
      if ('ace'.includes(id)) items.push(item(id.toUpperCase(), (id.charCodeAt(0) - 97) / 1 + 7));
    }
    expect(ids.filter((id) => id === id.toLowerCase()).join('')).toBe('acegikm');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['A', 'C', 'E']));
  });

  test('begins at a date, and leaves out items without one', async () => {
    const list = listOf([...letters('abcdef', (i) => i), item('z')]);
    expect(await walked(walkByTime(options(list, new Date(at(2)))))).toBe('cdef');
  });

  test('continues after a second with more items than the server lists', async () => {
    const given = options(
      listOf(
        letters('abcdefghijkl', (i) => (i < 10 ? 5 : i)),
        6,
      ),
      new Date(at(0)),
    );
    expect(await walked(walkByTime(given))).toBe('abcdefkl');
    expect(given.warnings).toEqual([
      'Only the first 6 items of 2020-01-01T00:00:05.000Z can be read: the source answers no more.',
    ]);
  });

  test('warns if items without a date are beyond what the server lists', async () => {
    const given = options(
      listOf(
        letters('abcdefghijkl', (i) => (i < 10 ? i : undefined)),
        6,
      ),
    );
    expect(await walked(walkByTime(given))).toBe('abcdefghij');
    expect(given.warnings).toHaveLength(1);
  });

  test('rejects a server that does not sort or does not filter', async () => {
    const unsorted = { page: async () => letters('cab', (i) => 5 - i) };
    await expect(walked(walkByTime(options(unsorted)))).rejects.toThrow(SourceUnusable);
    const unfiltered = { page: async () => letters('abc', (i) => i) };
    await expect(walked(walkByTime(options(unfiltered)))).rejects.toThrow(/not list its items in the order/);
  });

  test('rejects a list whose beginning cannot be read', async () => {
    await expect(walked(walkByTime(options(listOf([], 0))))).rejects.toThrow(SourceUnusable);
  });
});

describe('walkByOffset', () => {
  test('returns what the server lists, and warns of the rest', async () => {
    const given = options(
      listOf(
        letters('abcdefghijkl', (i) => i),
        6,
      ),
    );
    expect(await walked(walkByOffset(given))).toBe('abcdef');
    expect(given.warnings).toEqual(['Only the first 6 items can be read: the source answers no more.']);
  });

  test('returns each item of a server whose pages are smaller than requested', async () => {
    const list = listOf(
      letters('abcdefgh', (i) => i),
      1000,
      2,
    );
    expect(await walked(walkByOffset(options(list)))).toBe('abcdefgh');
  });

  test('leaves out items before a date', async () => {
    const list = listOf(letters('abcdefgh', (i) => i));
    expect(await walked(walkByOffset(options(list, new Date(at(5)))))).toBe('fgh');
  });
});
