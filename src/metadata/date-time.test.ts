import { expect, test } from 'vitest';
import { formatDuration, parseDate, parseDateTime, parseDuration, parseTime } from './date-time.ts';

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T13:30', '2026-01-31T13:30:00.000Z'],
  ['2026-01-31T13:30:15.250Z', '2026-01-31T13:30:15.250Z'],
  ['2026-01-31T00:30:00+01:00', '2026-01-30T23:30:00.000Z'],
  [' 2024-02-29 ', '2024-02-29T00:00:00.000Z'],
])('%s is an instant, in UTC unless it says otherwise', (text, instant) => {
  expect(parseDateTime(text)?.toISOString()).toBe(instant);
});

test.each([
  ...['2026-02-29', '2026-13-01', '0000-01-01', '2026-01-31T24:61Z', '2026-01-31Tea', '2026-01-31T13', ''],
  ...['0001-01-01T00:00:00+01:00', '9999-12-31T23:30:00-01:00', '12026-01-31'],
])('%s is no instant', (text) => {
  expect(parseDateTime(text)).toBeUndefined();
});

test('a day is read whatever time follows it, a time whatever its Z', () => {
  expect(parseDate('2026-01-31Tea')?.toISOString()).toBe('2026-01-31T00:00:00.000Z');
  expect(parseDate('2026-02-30T10:00:00Z')).toBeUndefined();
  expect([parseTime('13:30'), parseTime('13:30:00Z')]).toEqual([48_600_000, 48_600_000]);
  for (const text of ['24:00', '13:60', '1:30']) expect([text, parseTime(text)]).toEqual([text, undefined]);
});

test.each([
  [0, '00:00:00'],
  [90_500, '00:01:30.500'],
  [5, '00:00:00.005'],
  [360_000_000, '100:00:00'],
])('%i ms are written as %s and read back', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
  expect(parseDuration(text)).toBe(milliseconds);
});
