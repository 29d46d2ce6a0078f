import { expect, test } from 'vitest';
import { ageOf, clockOf, minuteOf, sizeOf, spanOf } from './words.ts';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1023 bytes'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [1024 ** 2 - 1, '1.0 MiB'],
  [1024 ** 3 * 20, '20.0 GiB'],
  [1024 ** 3 * 1023.96, '1.0 TiB'],
  [Number.MAX_SAFE_INTEGER, '8.0 PiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(sizeOf(bytes)).toBe(text);
});

test('a point in time is told by the minute', () => {
  expect(minuteOf(new Date('2026-11-22T17:05:59.999Z'))).toBe('2026-11-22 17:05');
});

test.each([
  [-5, '< 1 min'],
  [59, '< 1 min'],
  [60, '1 min'],
  [119 * 60, '119 min'],
  [120 * 60, '2 h'],
  [47 * 3600 + 3599, '47 h'],
  [48 * 3600, '2 days'],
])('what was %i seconds ago is %s old', (seconds, text) => {
  const now = new Date('2026-11-22T17:05:59.999Z');
  expect(ageOf(new Date(now.getTime() - seconds * 1000), now)).toBe(text);
});

test.each([
  [0, '0:00'],
  [59_400, '0:59'],
  [61_000, '1:01'],
  [3_723_000, '1:02:03'],
])('%i milliseconds last %s', (ms, text) => {
  expect(clockOf(ms)).toBe(text);
});

test.each([
  [340, '340 ms'],
  [4_200, '4.2 s'],
  [720_000, '12 min'],
  [12_600_000, '3.5 h'],
])('%i milliseconds took %s', (ms, text) => {
  expect(spanOf(ms)).toBe(text);
});
