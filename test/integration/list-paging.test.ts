import { expect, test } from 'vitest';
import { expected, isReaders, openPagingBench, pathOf, TIES, testAnyPages } from '../support/list-paging.ts';
import { follow, readPage, refusal } from '../support/lists.ts';

const bench = await openPagingBench();
const { app, known, reader } = bench;

testAnyPages(bench, 3);

test('a list without a limit, or with a large one, is streamed as a whole', async () => {
  const all = expected(known, TIES);
  expect((await readPage(app, pathOf(TIES, undefined, ''))).ids).toEqual(all);
  const mine = await readPage(app, pathOf(TIES, 'common', ''), reader);
  expect(mine.ids).toEqual(expected(known, TIES, 'common', true));
  const pages = await follow(app, pathOf(TIES, undefined, 'limit=1300'));
  expect(pages.map(({ ids }) => ids.length)).toEqual([1300, 1300, 400]);
  expect(pages.flatMap(({ ids }) => ids)).toEqual(all);
  expect(pages.at(-1)?.links.next).toBeUndefined();
});

test('a cursor works on when the event it stands on has been deleted', async () => {
  const first = await readPage(app, '/api/events?limit=5&filter=subject:common');
  const second = await readPage(app, first.links.next ?? '');
  const [last = ''] = first.ids.slice(-1);
  await app.database.deleteFrom('events').where('id', '=', last).execute();
  known.splice(
    known.findIndex(({ id }) => id === last),
    1,
  );
  expect((await readPage(app, first.links.next ?? '')).ids).toEqual(second.ids);
});

test('a cursor of another sorting is refused', async () => {
  const { links } = await readPage(app, '/api/events?limit=5');
  expect(await refusal(app, `${links.next}&sort=title:ASC`)).toEqual([
    400,
    "The parameter 'cursor' does not come from a list sorted like this one.",
  ]);
});

test('the total is exact where the end is seen or little is found, and says so where it is not', async () => {
  const total = async (query: string) => (await readPage(app, `/api/events?limit=5${query}`)).total;
  const count = known.length;
  expect(await total('')).toBe('gte 1001');
  expect(await total(`&offset=${count - 3}`)).toBe(`eq ${count}`);
  expect(await total('&filter=subject:rare')).toBe('eq 4');
  expect(await total('&filter=subject:none')).toBe('eq 0');
  const { links } = await readPage(app, `/api/events?limit=50&offset=${count - 3}`);
  expect(links.last).toBe(`/api/events?limit=50&offset=${Math.floor((count - 1) / 50) * 50}`);
});

test.each([
  ['', () => true],
  ['sort=title:ASC', () => true],
  ['filter=location:east', ({ location }) => location === 'east'],
  ['filter=subject:common', ({ subjects }) => subjects.includes('common')],
  ['filter=textFilter:bee', ({ title }) => title === 'bee'],
] as [string, (event: (typeof known)[number]) => boolean][])(
  'the total of ?%s says nothing of events that the account may not read',
  async (query, fits) => {
    const page = await readPage(app, `/api/events?limit=5&${query}`, reader);
    expect(page.total).toBe(`eq ${known.filter((event) => isReaders(event) && fits(event)).length}`);
    expect(Object.keys(page.links)).toContain('last');
  },
);
