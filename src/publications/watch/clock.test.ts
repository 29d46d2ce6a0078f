import { expect, test } from 'vitest';
import { clock } from './clock.ts';

test.each([
  [0, '0:00'],
  [7.9, '0:07'],
  [60, '1:00'],
  [754, '12:34'],
  [3600, '1:00:00'],
  [3723, '1:02:03'],
  [36_000, '10:00:00'],
  [-1, '0:00'],
  [Number.NaN, '0:00'],
  [Number.POSITIVE_INFINITY, '0:00'],
])('%d seconds are %s', (seconds, text) => {
  expect(clock(seconds)).toBe(text);
});
