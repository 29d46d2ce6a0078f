import { type SqlBool, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Order } from '../../database/list/index.ts';
import type { ApiVersion } from '../answer/version.ts';
import { streamedArray } from './list-answer.ts';
import { decodeCursor, encodeCursor, type PageFacts, pageHeaders } from './list-page.ts';
import {
  endOfPeriod,
  type ListedResource,
  type ListRequest,
  listingOf,
  orderOf,
  parseFilters,
  parseSort,
  parseWords,
  type Sorts,
  utcInstant,
} from './listed-resource.ts';

const criterion = (name: string) => ({ name, expression: sql.ref(name), kind: 'text' as const });

describe('the grammar of filters', () => {
  const colons = { colons: true };
  const DAYS = '2026-01-01T00:00:00Z/2026-01-02T00:00:00Z';

  test.each<[string, Record<string, string>]>([
    ['title:Lecture', { title: 'Lecture' }],
    ['title:A,location:B', { title: 'A', location: 'B' }],
    [`start:${DAYS}`, { start: DAYS }],
    ['title,title:,location:B', { location: 'B' }],
    ['title%3dA', {}],
    ['title: A ', { title: ' A ' }],
    [':A', { '': 'A' }],
    ['', {}],
  ])('%j is read as %j', (filter, parts) => {
    const expected = Object.entries(parts).map(([name, value]) => ({ name, value }));
    expect(parseFilters([filter], colons)).toEqual(expected.length > 0 ? [expected] : []);
  });

  test('in the first version a value ends at its first colon; without one a filter widens no union', () => {
    const title = { name: 'title', value: 'A' };
    expect(parseFilters(['title:A:B,location::C'], { colons: false })).toEqual([[title]]);
    expect(parseFilters(['', 'title:A', 'title:'], colons)).toEqual([[title]]);
  });

  test.each([
    [Array(51).fill('title:A'), "The parameter 'filter' is given 51 times; allowed is 50 times."],
    [['identifier:a,'.repeat(1001)], "The parameter 'filter' has 1001 criteria; allowed are 1000."],
  ])('more than any client needs is refused', (filters, message) => {
    expect(() => parseFilters(filters, colons)).toThrow(message);
  });
});

describe('values of filters', () => {
  test.each([
    ['2026-04-13T08:15:00Z', '2026-04-13T08:15:00.000Z'],
    ['2026-04-13T08:15:00.5Z', '2026-04-13T08:15:00.500Z'],
    ['2026-04-13T08:15:00.123456789Z', '2026-04-13T08:15:00.123Z'],
  ])('%s is an instant', (text, instant) => expect(utcInstant(text)?.toISOString()).toBe(instant));

  test.each([
    ...['', '2026-04-13', '2026-04-13T08:15Z', '2026-04-13T08:15:00', '2026-04-13T08:15:00+02:00'],
    ...['2026-02-30T00:00:00Z', '2026-04-13T24:00:00Z', '0000-01-01T00:00:00Z', ' 2026-04-13T08:15:00Z'],
    '2026-04-13T08:15:00.Z',
  ])('%j is none', (text) => expect(utcInstant(text)).toBeUndefined());

  test('the end of a period includes what clients see as that second', () => {
    expect(endOfPeriod('2026-04-13T08:15:00Z')?.toISOString()).toBe('2026-04-13T08:15:01.000Z');
    expect(endOfPeriod('2026-04-13T08:15:00.250Z')?.toISOString()).toBe('2026-04-13T08:15:00.251Z');
    expect(endOfPeriod('never')).toBeUndefined();
  });

  test('words are told apart by any white space, and not too many of them', () => {
    expect(parseWords(' a\tb\u00a0a  c ')).toEqual(['a', 'b', 'c']);
    expect(parseWords('  ')).toEqual([]);
    expect(parseWords('x '.repeat(20))).toEqual(['x']);
    expect(() => parseWords(Array.from({ length: 21 }, (_, i) => `w${i}`).join(' '))).toThrow(/21 words/);
  });
});

describe('filters of a resource', () => {
  /** What a row has to fit, group by group: each condition as the filter's name and its values. */
  function wanted(request: Omit<ListRequest, 'access'>, version: ApiVersion): string[][] {
    const names = new Map<object, string>();
    const recorded = (name: string) => ({
      condition: (values: readonly string[]) => {
        const condition = { test: sql<SqlBool>`true` };
        names.set(condition, [name, ...values].join(' '));
        return condition;
      },
    });
    const resource: ListedResource = {
      table: 'accounts',
      shown: (_, id) => id,
      sorts: { criteria: {}, identifier: criterion('id') },
      filters: { title: recorded('title'), late: recorded('late') },
      filtersSince: { late: '1.5.0' },
      colonsSince: '1.1.0',
    };
    const { groups } = listingOf(resource, { access: undefined, ...request }, version);
    return groups.map((group) => group.map((condition) => names.get(condition) ?? ''));
  }

  test.each<[string, ApiVersion, string[], string[][]]>([
    [
      'criteria stand together, filters apart',
      '1.5.0',
      ['title:A,late:B', 'title:C'],
      [['title A', 'late B'], ['title C']],
    ],
    ['later filters are without effect in the first version', '1.0.0', ['late:A,x:B,title:C'], [['title C']]],
    ['a value ends at a colon before the version of colons', '1.0.0', ['title:A:B'], [['title A']]],
    ['a value may hold colons from then on', '1.1.0', ['title:A:B'], [['title A:B']]],
  ])('%s', (_, version, filters, groups) => expect(wanted({ filters }, version)).toEqual(groups));

  test('what came in a parameter of its own counts in every version, as it is', () => {
    const criteria = { late: 'A:B,C', title: 'D' };
    expect(wanted({ criteria }, '1.0.0')).toEqual([['late A:B,C', 'title D']]);
  });

  test.each(['late', 'unknown', 'toString', '__proto__'])(
    'the filter %s is refused in a version without it',
    (name) => {
      const sentence = `Unknown filter criterion in request: ${name}`;
      expect(() => wanted({ filters: [`${name}:A`] }, '1.4.0')).toThrow(sentence);
    },
  );

  test('what is wrong with the sort is said before what is wrong with the filters', () => {
    const request = { sort: 'title', filters: ['unknown:A'] };
    expect(() => wanted(request, '1.5.0')).toThrow('The sort criterion "title"');
  });
});

describe('sorting', () => {
  test.each<[string | undefined, Record<string, boolean>]>([
    ['title:ASC', { title: false }],
    ['title:desc', { title: true }],
    ['title:Ascending,date:DESCENDING', { title: false, date: true }],
    [' title : ASC ,, date:DESC,', { title: false, date: true }],
    ['title:ASC,title:DESC', { title: false }],
    ['', {}],
    [undefined, {}],
  ])('%j is read as %j', (sort, parts) => {
    const expected = Object.entries(parts).map(([name, descending]) => ({ name, descending }));
    expect(parseSort(sort)).toEqual(expected);
  });

  test.each(['title', 'title:', 'title:UP', ':ASC', 'title:ASC:DESC', 'title=ASC', 'title:constructor'])(
    '%j is refused',
    (sort) => {
      const sentence = /^The sort criterion ".*" is not of the form name:ASC or name:DESC\.$/;
      expect(() => parseSort(sort)).toThrow(sentence);
    },
  );

  const SORTS: Sorts = {
    criteria: { title: criterion('title'), date: criterion('start'), start: criterion('start'), state: null },
    standard: { ...criterion('start'), descending: true },
    identifier: criterion('identifier'),
  };
  const names = (sort: string) =>
    orderOf(parseSort(sort), SORTS).map(({ name, descending }) => `${name} ${descending ? 'down' : 'up'}`);

  test.each([
    ['', ['start down', 'identifier down']],
    ['title:ASC', ['title up', 'identifier up']],
    ['title:DESC,start:ASC', ['title down', 'start up', 'identifier down']],
    ['state:ASC', ['start down', 'identifier down']],
    ['state:ASC,title:ASC', ['title up', 'identifier up']],
    ['date:ASC,start:DESC', ['start up', 'identifier up']],
  ])('the order of %j is %j', (sort, order) => expect(names(sort)).toEqual(order));

  test('the order of a list that has no other is that of the identifiers', () => {
    const { identifier } = SORTS;
    expect(orderOf([], { criteria: {}, identifier })).toEqual([{ ...identifier, descending: false }]);
  });

  test.each(['unknown', 'toString', '__proto__'])('%s is not known', (name) => {
    expect(() => names(`${name}:ASC`)).toThrow(`Unknown sort criterion in request: ${name}`);
  });
});

describe('links and totals of a page', () => {
  const ORDER: Order = [{ ...criterion('identifier'), descending: false }];
  const LIST = 'https://inlet.test/api/events';

  function pageOf(facts: Partial<PageFacts>, query = '') {
    const { Link = '', ...headers } = pageHeaders(LIST, new URLSearchParams(query), {
      page: at(0),
      order: ORDER,
      first: ['a'],
      last: ['j'],
      more: { before: false, after: false },
      total: { count: 10, exact: true },
      ...facts,
    });
    const found = [...Link.matchAll(/<([^>]*)>; rel="([^"]*)"/g)];
    const links = Object.fromEntries(found.map(([, url = '', relation = '']) => [relation, url]));
    return { links: links as Record<string, string>, headers };
  }
  const at = (offset: number, limit: number | undefined = 10) => ({ limit, offset, position: undefined });
  const parameter = (url: string | undefined, name: string) => new URL(url ?? '').searchParams.get(name) ?? '';
  const MIDDLE = { page: at(20), more: { before: true, after: true }, total: { count: 95, exact: true } };

  test('a page in the middle leads to all its neighbours, and keeps the other parameters', () => {
    const { links, headers } = pageOf(MIDDLE, 'limit=10&offset=20&filter=title:A%2CB&filter=x:y');
    const kept = `${LIST}?limit=10&filter=title%3AA%2CB&filter=x%3Ay`;
    expect(links).toMatchObject({ first: kept, prev: `${kept}&offset=10`, last: `${kept}&offset=90` });
    expect(decodeCursor(ORDER, parameter(links.next, 'cursor'))).toEqual({ side: 'after', key: ['j'] });
    expect(headers).toEqual({ 'X-Total-Count': '95', 'X-Total-Count-Relation': 'eq' });
  });

  test.each([
    [5, ['next', 'prev', 'first', 'last']],
    [12, ['next', 'prev']],
    [30, ['next']],
    [100, []],
  ])(
    'of the links of a page in the middle that is filtered by %i identifiers as many stay as fit into headers: %j',
    (count, relations) => {
      const identifiers = Array.from({ length: count }, (_, i) => 100_000_000_000 + i);
      const filter = identifiers.map((end) => `identifier:0f5f0000-0000-4000-8000-${end}`).join(',');
      const { links, headers } = pageOf(MIDDLE, `filter=${filter}`);
      expect(Object.keys(links)).toEqual(relations);
      expect(headers).toEqual({ 'X-Total-Count': '95', 'X-Total-Count-Relation': 'eq' });
    },
  );

  test('the last page is not known while the total is not', () => {
    const more = { before: false, after: true };
    const { links, headers } = pageOf({ more, total: { count: 1000, exact: false } });
    expect(Object.keys(links)).toEqual(['next', 'first']);
    expect(headers['X-Total-Count-Relation']).toBe('gte');
  });

  test('a page found by a cursor leads back by one', () => {
    const page = { ...at(0), position: { side: 'after' as const, key: ['0'] } };
    const { links } = pageOf({ page, more: { before: true, after: false } }, 'cursor=x');
    expect(decodeCursor(ORDER, parameter(links.prev, 'cursor'))).toEqual({ side: 'before', key: ['a'] });
    expect(links.first).toBe(LIST);
  });

  test.each([
    [0, 10, 0],
    [10, 10, 0],
    [11, 10, 10],
    [20, 10, 10],
    [21, 10, 20],
  ])('the last page of %i rows, %i each, begins at %i', (count, limit, offset) => {
    const { links } = pageOf({ page: at(0, limit), total: { count, exact: true } });
    expect(Number(parameter(links.last, 'offset'))).toBe(offset);
  });

  test('the page before one at an odd offset begins at the start, and a whole list is its only page', () => {
    expect(pageOf({ page: at(7), more: { before: true, after: false } }).links.prev).toBe(LIST);
    const page = { limit: undefined, offset: 0, position: undefined };
    expect(pageOf({ page }).links).toEqual({ first: LIST, last: LIST });
  });
});

describe('cursors', () => {
  const BY_START: Order = [
    { ...criterion('start'), kind: 'instant', descending: true },
    { ...criterion('identifier'), descending: true },
  ];
  const ASCENDING = BY_START.map((term) => ({ ...term, descending: false }));
  const START = '2026-04-13T08:15:00.123456Z';
  const KEY = [START, 'ä"\\,:'];

  test('a place survives the way through a URL', () => {
    for (const side of ['after', 'before'] as const) {
      const cursor = encodeCursor(BY_START, { side, key: KEY });
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(decodeCursor(BY_START, cursor)).toEqual({ side, key: KEY });
    }
  });

  const made = (...words: unknown[]) =>
    Buffer.from(JSON.stringify(['start:DESC,identifier:DESC', ...words])).toString('base64url');

  test.each([
    ['no cursor', 'x'],
    ['another sorting', encodeCursor(ASCENDING, { side: 'after', key: KEY })],
    ['no array', Buffer.from('{"length":4}').toString('base64url')],
    ['another side', made('beside', ...KEY)],
    ['too little', made('after', START)],
    ['too much', made('after', ...KEY, 'x')],
    ['a number', made('after', START, 1)],
    ['a NUL', made('after', START, 'a\0b')],
    ['half a surrogate pair', made('after', START, '\ud800')],
    ['no instant', made('after', 'infinity', 'id')],
    ['no day', made('after', '2026-02-30T08:15:00.123456Z', 'id')],
    ['no year', made('after', '0000-02-01T08:15:00.123456Z', 'id')],
    ['very much', made('after', START, 'x'.repeat(20_000))],
  ])('%s is refused', (_, cursor) => {
    const sentence = "The parameter 'cursor' does not come from a list sorted like this one.";
    expect(() => decodeCursor(BY_START, cursor)).toThrow(sentence);
  });
});

describe('a streamed array', () => {
  const unexpected = (error: unknown) => {
    throw error;
  };
  async function* batches(...values: unknown[][]) {
    yield* values;
  }

  test.each<[unknown[][], string]>([
    [[], '[]'],
    [[[]], '[]'],
    [[[1, { a: 'ä' }], [], ['x']], '[1,{"a":"ä"},"x"]'],
  ])('%j becomes %s', async (values, text) => {
    expect(await new Response(streamedArray(batches(...values), unexpected)).text()).toBe(text);
  });

  test('nothing is read ahead of the client, and nothing after it has gone', async () => {
    let read = 0;
    let stopped = false;
    async function* endless() {
      try {
        for (;;) yield [++read];
      } finally {
        stopped = true;
      }
    }
    const stream = streamedArray(endless(), unexpected);
    expect(read).toBe(0);
    const reader = stream.getReader();
    await reader.read();
    await reader.read();
    expect(read).toBe(2);
    await reader.cancel();
    expect([read, stopped]).toEqual([2, true]);
  });

  test('a failure breaks the stream instead of closing the array', async () => {
    const failure = new Error('gone');
    async function* failing() {
      yield [1];
      throw failure;
    }
    const reported: unknown[] = [];
    const stream = streamedArray(failing(), (error) => reported.push(error));
    await expect(new Response(stream).text()).rejects.toThrow();
    expect(reported).toEqual([failure]);
  });

  test('a client that leaves while a batch is being read is no failure', async () => {
    const arrived = Promise.withResolvers<void>();
    async function* late() {
      await arrived.promise;
      yield [1];
    }
    const reported: unknown[] = [];
    const reader = streamedArray(late(), (error) => reported.push(error)).getReader();
    const reading = reader.read();
    const left = reader.cancel();
    arrived.resolve();
    await Promise.all([reading, left]);
    expect(reported).toEqual([]);
  });
});
