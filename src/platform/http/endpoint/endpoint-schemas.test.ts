import { expect, test } from 'vitest';
import { z } from 'zod';
import { flag, PAGE, parseInput, TextFlag } from './endpoint-schemas.ts';

const Page = z.object(PAGE);
const LARGEST = String(Number.MAX_SAFE_INTEGER);

test.each([
  [{}, {}],
  [{ limit: '', offset: '' }, {}],
  [{ limit: '0', offset: '0' }, { offset: 0 }],
  [
    { limit: '007', offset: LARGEST },
    { limit: 7, offset: Number.MAX_SAFE_INTEGER },
  ],
])('%j is a page', (query, page) => {
  expect(parseInput(Page, query)).toEqual(page);
});

test.each(['9007199254740992', '-1', '+1', '1e3', ' 1', '1.0', '\u0663', 'ten'])(
  '%j is no number of rows, and is quoted as it was sent',
  (text) => {
    const sentence = (name: string) =>
      `The parameter '${name}' is ${JSON.stringify(text)}; allowed is a whole number from 0 to ${LARGEST}.`;
    expect(() => parseInput(Page, { limit: text, offset: 'x' })).toThrow(sentence('limit'));
    expect(() => parseInput(Page, { offset: text })).toThrow(sentence('offset'));
  },
);

test('only the word true is true, in any case of letters', () => {
  const values = ['true', 'TRUE', ' true', '1', 'yes', '', undefined];
  const read = [true, true, false, false, false, false, false];
  expect(values.map((value) => flag('').parse(value))).toEqual(read);
  expect(values.map((value) => TextFlag.parse(value))).toEqual(read);
});
