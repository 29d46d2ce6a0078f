import { expect, test } from 'vitest';
import { addDays, dateOf, dayOf, mondayOf, parseDay, parseWeek, weekName } from './days.ts';

test.each([
  ['2026-W48', '2026-11-23'],
  ['2026-11-23', '2026-11-23'],
  ['2026-11-29', '2026-11-23'],
  ['2026-W53', '2026-12-28'],
  ['2027-01-03', '2026-12-28'],
  ['2027-W01', '2027-01-04'],
  ['2025-W01', '2024-12-30'],
  ['1971-W01', '1971-01-04'],
])('%s is the week that begins on %s', (text, monday) => {
  const day = parseWeek(text);
  expect(day === undefined ? undefined : dateOf(day)).toBe(monday);
});

test.each([
  '',
  '2026',
  '2026-W00',
  '2025-W53',
  '2026-W54',
  '2026-W99',
  '2026-w48',
  '2026-W4',
  '0000-W01',
  '9999-W52',
])('%j names no week', (text) => expect(parseWeek(text)).toBeUndefined());

test.each([
  '2026-02-29',
  '2026-13-01',
  '2026-11-00',
  '2026-11-5',
  '0001-01-01',
  '9999-01-01',
  ' 2026-11-25',
  '1e3-01-01',
])('%j names neither a day nor a week', (text) => {
  expect(parseDay(text)).toBeUndefined();
  expect(parseWeek(text)).toBeUndefined();
});

test('every day of many years belongs to the week that its name says', () => {
  for (let day = Date.UTC(1999, 11, 20); day < Date.UTC(2031, 0, 1); day = addDays(day, 1)) {
    expect(parseDay(dateOf(day))).toBe(day);
    expect(parseWeek(weekName(day))).toBe(mondayOf(day));
    expect(new Date(mondayOf(day)).getUTCDay()).toBe(1);
    expect(day - mondayOf(day)).toBeLessThan(7 * 86_400_000);
  }
});

test('a local time belongs to the day before its midnight', () => {
  expect(dateOf(dayOf(Date.UTC(2026, 10, 25, 23, 59, 59, 999)))).toBe('2026-11-25');
  expect(dateOf(dayOf(Date.UTC(1969, 11, 31, 1)))).toBe('1969-12-31');
});
