import { expect, test } from 'vitest';
import { formatHours, startAfter, startOfNew } from './dates.ts';

const NOW = new Date('2026-04-13T08:15:42.123Z');

test.each([
  ['', '', '2026-04-13T08:15:42.000Z'],
  ['', '10:00', '2026-04-13T10:00:00.000Z'],
  ['2027-01-31', '', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31', '10:00:05Z', '2027-01-31T10:00:05.000Z'],
  ['2027-01-31T23:30:00-02:00', '', '2027-02-01T01:30:00.000Z'],
  ['2027-01-31T23:30:00Z', '10:00', '2027-01-31T10:00:00.000Z'],
])('a new event with the date "%s" and the time "%s" starts at %s', (date, time, start) => {
  expect(startOfNew(date, time, NOW).toISOString()).toBe(start);
});

test.each([
  ['', '', '2026-04-13T08:15:42.123Z'],
  ['2026-04-13', '08:15', '2026-04-13T08:15:42.123Z'],
  ['2026-04-14', '08:15Z', '2026-04-14T08:15:42.123Z'],
  ['', '08:15:00', '2026-04-13T08:15:00.000Z'],
  ['', '08:16', '2026-04-13T08:16:00.000Z'],
])('an event that gets the date "%s" and the time "%s" starts at %s', (date, time, start) => {
  expect(startAfter(date, time, NOW).toISOString()).toBe(start);
});

test.each(['2026-02-30', 'tomorrow', '0001-01-01T00:00:00+02:00'])('the date %s is refused', (date) => {
  expect(() => startOfNew(date, '', NOW)).toThrow(`the value of 'startDate' is "${date}"`);
  expect(() => startAfter(date, '', NOW)).toThrow(`the value of 'startDate' is "${date}"`);
});

test('durations are shown in whole seconds', () => {
  const shown = [null, 999, 5_400_500, 360_000_000].map(formatHours);
  expect(shown).toEqual(['00:00:00', '00:00:00', '01:30:00', '100:00:00']);
});
