import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Order } from '../../database/list/index.ts';
import { decodeCursor, encodeCursor, type PageFacts, pageHeaders } from './page.ts';

const ORDER: Order = [{ name: 'identifier', expression: sql.ref('id'), kind: 'text', descending: false }];
const URL_OF_LIST = 'https://inlet.test/api/events';

function links(facts: Partial<PageFacts>, query = '') {
  const { Link = '', ...headers } = pageHeaders(URL_OF_LIST, new URLSearchParams(query), {
    page: { limit: 10, offset: 0, position: undefined },
    order: ORDER,
    first: ['a'],
    last: ['j'],
    more: { before: false, after: false },
    total: { count: 10, exact: true },
    ...facts,
  });
  const found = [...Link.matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, url = '', relation = '']) => [
    relation,
    url,
  ]);
  return { links: Object.fromEntries(found) as Record<string, string>, headers };
}

const page = (offset: number, limit: number | undefined = 10) => ({ limit, offset, position: undefined });

test('a page in the middle leads to all its neighbours, and keeps the other parameters', () => {
  const { links: found, headers } = links(
    { page: page(20), more: { before: true, after: true }, total: { count: 95, exact: true } },
    'limit=10&offset=20&filter=title:A%2CB&filter=x:y',
  );
  const kept = 'limit=10&filter=title%3AA%2CB&filter=x%3Ay';
  expect(found.first).toBe(`${URL_OF_LIST}?${kept}`);
  expect(found.prev).toBe(`${URL_OF_LIST}?${kept}&offset=10`);
  expect(found.last).toBe(`${URL_OF_LIST}?${kept}&offset=90`);
  const cursor = new URL(found.next ?? '').searchParams.get('cursor') ?? '';
  expect(decodeCursor(ORDER, cursor)).toEqual({ side: 'after', key: ['j'] });
  expect(headers).toEqual({ 'X-Total-Count': '95', 'X-Total-Count-Relation': 'eq' });
});

/** A filter by so many identifiers, and how it stands in a URL. */
const byIdentifiers = (count: number) =>
  `filter=${Array.from({ length: count }, (_, i) => `identifier:0f5f0000-0000-4000-8000-${100_000_000_000 + i}`).join(',')}`;

test.each([
  [5, ['next', 'prev', 'first', 'last']],
  [12, ['next', 'prev']],
  [30, ['next']],
  [100, []],
])(
  'of the links of a page in the middle that is filtered by %i identifiers as many stay as fit into headers: %j',
  (count, relations) => {
    const { links: found, headers } = links(
      { page: page(20), more: { before: true, after: true }, total: { count: 95, exact: true } },
      byIdentifiers(count),
    );
    expect(Object.keys(found)).toEqual(relations);
    expect(headers).toEqual({ 'X-Total-Count': '95', 'X-Total-Count-Relation': 'eq' });
  },
);

test('the last page is not known while the total is not', () => {
  const { links: found, headers } = links({
    more: { before: false, after: true },
    total: { count: 1000, exact: false },
  });
  expect(Object.keys(found)).toEqual(['next', 'first']);
  expect(headers['X-Total-Count-Relation']).toBe('gte');
});

test('a page found by a cursor leads back by one', () => {
  const position = { side: 'after' as const, key: ['0'] };
  const { links: found } = links(
    { page: { ...page(0), position }, more: { before: true, after: false } },
    'cursor=x',
  );
  const cursor = new URL(found.prev ?? '').searchParams.get('cursor') ?? '';
  expect(decodeCursor(ORDER, cursor)).toEqual({ side: 'before', key: ['a'] });
  expect(found.first).toBe(URL_OF_LIST);
});

test.each([
  [0, 10, 0],
  [10, 10, 0],
  [11, 10, 10],
  [20, 10, 10],
  [21, 10, 20],
])('the last page of %i rows, %i each, begins at %i', (count, limit, offset) => {
  const { links: found } = links({ page: page(0, limit), total: { count, exact: true } });
  expect(Number(new URL(found.last ?? '').searchParams.get('offset'))).toBe(offset);
});

test('the page before one at an odd offset begins at the start', () => {
  const { links: found } = links({ page: page(7), more: { before: true, after: false } });
  expect(found.prev).toBe(URL_OF_LIST);
});

test('a whole list is its own first and last page', () => {
  expect(links({ page: page(0, undefined) }).links).toEqual({ first: URL_OF_LIST, last: URL_OF_LIST });
});

const BY_START: Order = [
  { name: 'start', expression: sql.ref('start'), kind: 'instant', descending: true },
  { name: 'identifier', expression: sql.ref('id'), kind: 'text', descending: true },
];
const KEY = ['2026-04-13T08:15:00.123456Z', 'ä"\\,:'];

test('a place survives the way through a URL', () => {
  for (const side of ['after', 'before'] as const) {
    const cursor = encodeCursor(BY_START, { side, key: KEY });
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCursor(BY_START, cursor)).toEqual({ side, key: KEY });
  }
});

const made = (...words: unknown[]) => Buffer.from(JSON.stringify(words)).toString('base64url');
const SORTING = 'start:DESC,identifier:DESC';

test.each([
  ['no cursor', 'x'],
  [
    'another sorting',
    encodeCursor(
      BY_START.map((term) => ({ ...term, descending: false })),
      { side: 'after', key: KEY },
    ),
  ],
  ['no array', Buffer.from('{"length":4}').toString('base64url')],
  ['another side', made(SORTING, 'beside', ...KEY)],
  ['too little', made(SORTING, 'after', KEY[0])],
  ['too much', made(SORTING, 'after', ...KEY, 'x')],
  ['a number', made(SORTING, 'after', KEY[0], 1)],
  ['a NUL', made(SORTING, 'after', KEY[0], 'a\0b')],
  ['half a surrogate pair', made(SORTING, 'after', KEY[0], '\ud800')],
  ['no instant', made(SORTING, 'after', 'infinity', 'id')],
  ['no day', made(SORTING, 'after', '2026-02-30T08:15:00.123456Z', 'id')],
  ['no year', made(SORTING, 'after', '0000-02-01T08:15:00.123456Z', 'id')],
  ['very much', made(SORTING, 'after', KEY[0], 'x'.repeat(20_000))],
])('%s is refused', (_, cursor) => {
  expect(() => decodeCursor(BY_START, cursor)).toThrow(
    "The parameter 'cursor' does not come from a list sorted like this one.",
  );
});
