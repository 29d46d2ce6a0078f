import { expect, test } from 'vitest';
import { ageOf, amountOf, clockOf, minuteOf, recordingsText, sizeOf, spanOf } from './format-units.ts';

const now = new Date('2026-11-22T17:05:59.999Z');

test('sizes are told in bytes and their multiples by 1024', () => {
  const [KIB, GIB] = [1024, 1024 ** 3];
  expect([0, 1, 1023, KIB, 1.5 * KIB, KIB ** 2 - 1].map(sizeOf)).toEqual([
    ...['0 bytes', '1 byte', '1023 bytes', '1.0 KiB', '1.5 KiB', '1.0 MiB'],
  ]);
  expect([20 * GIB, 1023.96 * GIB, Number.MAX_SAFE_INTEGER].map(sizeOf)).toEqual([
    ...['20.0 GiB', '1.0 TiB', '8.0 PiB'],
  ]);
});

test('numbers have separators, and one recording has no plural', () => {
  expect([0, 999, 1_234_567].map(amountOf)).toEqual(['0', '999', '1,234,567']);
  expect([0, 1, 2, 5000].map(recordingsText)).toEqual([
    '0 recordings',
    '1 recording',
    '2 recordings',
    '5,000 recordings',
  ]);
});

test('a point in time is told by the minute', () => {
  expect(minuteOf(now)).toBe('2026-11-22 17:05');
});

test('ages are told by minutes, hours and days, which change at two hours and two days', () => {
  const seconds = [-5, 59, 60, 119 * 60, 120 * 60, 47 * 3600 + 3599, 48 * 3600];
  expect(seconds.map((each) => ageOf(new Date(now.getTime() - each * 1000), now))).toEqual([
    ...['< 1 min', '< 1 min', '1 min', '119 min', '2 h', '47 h', '2 days'],
  ]);
});

test('lengths are told as clocks have them, and how long something took by one unit', () => {
  expect([0, 59_400, 61_000, 3_723_000].map(clockOf)).toEqual(['0:00', '0:59', '1:01', '1:02:03']);
  expect([340, 4_200, 720_000, 12_600_000].map(spanOf)).toEqual(['340 ms', '4.2 s', '12 min', '3.5 h']);
});
