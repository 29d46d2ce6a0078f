import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Order } from '../../database/list/order.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

const ORDER: Order = [
  { name: 'start', expression: sql.ref('start'), kind: 'instant', descending: true },
  { name: 'identifier', expression: sql.ref('id'), kind: 'text', descending: true },
];
const KEY = ['2026-04-13T08:15:00.123456Z', 'ä"\\,:'];

test('a place survives the way through a URL', () => {
  for (const side of ['after', 'before'] as const) {
    const cursor = encodeCursor(ORDER, { side, key: KEY });
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCursor(ORDER, cursor)).toEqual({ side, key: KEY });
  }
});

const made = (...words: unknown[]) => Buffer.from(JSON.stringify(words)).toString('base64url');
const SORTING = 'start:DESC,identifier:DESC';

test.each([
  ['no cursor', 'x'],
  [
    'another sorting',
    encodeCursor(
      ORDER.map((term) => ({ ...term, descending: false })),
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
  expect(() => decodeCursor(ORDER, cursor)).toThrow(
    "The parameter 'cursor' does not come from a list sorted like this one.",
  );
});
