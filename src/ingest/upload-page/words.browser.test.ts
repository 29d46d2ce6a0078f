import { expect, test } from 'vitest';
import { createWords } from './words.browser.ts';

const { size, time, percent } = createWords();

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 KB'],
  [9_949_999, '9.9 MB'],
  [9_950_000, '10 MB'],
  [999_499_999, '999 MB'],
  [999_500_000, '1.0 GB'],
  [51_200_000_000, '51 GB'],
  [5e15, '5000 TB'],
])('%i bytes are %s', (bytes, expected) => {
  expect(size(bytes)).toBe(expected);
});

test.each([
  [0, 'a few seconds'],
  [12, '15 seconds'],
  [56, '1 minute'],
  [61, '2 minutes'],
  [3_541, '1 hour'],
  [5_400, '1 hour and 30 minutes'],
  [200_000, '2 days'],
])('%i s take %s', (seconds, expected) => {
  expect(time(seconds)).toBe(expected);
});

test('100 % is all, and nothing less', () => {
  expect([percent(0), percent(0.9999), percent(1), percent(1.2)]).toEqual(['0 %', '99 %', '100 %', '100 %']);
});
