import { expect, test } from 'vitest';
import { parseFilters } from './filter-grammar.ts';

const colons = { colons: true };

test.each([
  ['title:Lecture', [['title', 'Lecture']]],
  [
    'title:A,location:B',
    [
      ['title', 'A'],
      ['location', 'B'],
    ],
  ],
  [
    'start:2026-01-01T00:00:00Z/2026-01-02T00:00:00Z',
    [['start', '2026-01-01T00:00:00Z/2026-01-02T00:00:00Z']],
  ],
  ['title,title:,location:B', [['location', 'B']]],
  ['title%3dA', []],
  ['title: A ', [['title', ' A ']]],
  [':A', [['', 'A']]],
  ['', []],
])('%j is read as %j', (filter, parts) => {
  const expected = parts.map(([name, value]) => ({ name, value }));
  expect(parseFilters([filter], colons)).toEqual(expected.length > 0 ? [expected] : []);
});

test('in the first version a value ends at its first colon', () => {
  expect(parseFilters(['title:A:B,location::C'], { colons: false })).toEqual([
    [{ name: 'title', value: 'A' }],
  ]);
});

test('filters without any criterion do not widen a union', () => {
  expect(parseFilters(['', 'title:A', 'title:'], colons)).toEqual([[{ name: 'title', value: 'A' }]]);
});

test.each([
  [
    Array.from({ length: 51 }, () => 'title:A'),
    "The parameter 'filter' is given 51 times; allowed is 50 times.",
  ],
  [['identifier:a,'.repeat(1001)], "The parameter 'filter' has 1001 criteria; allowed are 1000."],
])('more than any client needs is refused', (filters, message) => {
  expect(() => parseFilters(filters, colons)).toThrow(message);
});
