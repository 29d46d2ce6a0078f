import { expect, test } from 'vitest';
import { changedColumns, newEventColumns, startAfter, startOfNew } from './event-columns.ts';

const NOW = new Date('2026-04-13T08:15:42.123Z');

test.each([
  ['new', '', '', '2026-04-13T08:15:42.000Z'],
  ['new', '', '10:00', '2026-04-13T10:00:00.000Z'],
  ['new', '2027-01-31', '', '2027-01-31T00:00:00.000Z'],
  ['new', '2027-01-31', '10:00:05Z', '2027-01-31T10:00:05.000Z'],
  ['new', '2027-01-31T23:30:00-02:00', '', '2027-02-01T01:30:00.000Z'],
  ['new', '2027-01-31T23:30:00Z', '10:00', '2027-01-31T10:00:00.000Z'],
  ['changed', '', '', '2026-04-13T08:15:42.123Z'],
  ['changed', '2026-04-13', '08:15', '2026-04-13T08:15:42.123Z'],
  ['changed', '2026-04-14', '08:15Z', '2026-04-14T08:15:42.123Z'],
  ['changed', '', '08:15:00', '2026-04-13T08:15:00.000Z'],
  ['changed', '', '08:16', '2026-04-13T08:16:00.000Z'],
] as const)('a %s event with the date "%s" and the time "%s" starts at %s', (kind, date, time, start) => {
  const startOf = { new: startOfNew, changed: startAfter }[kind];
  expect(startOf(date, time, NOW).toISOString()).toBe(start);
});

test.each(['2026-02-30', 'tomorrow', '0001-01-01T00:00:00+02:00'])('the date %s is refused', (date) => {
  expect(() => startOfNew(date, '', NOW)).toThrow(`the value of 'startDate' is "${date}"`);
  expect(() => startAfter(date, '', NOW)).toThrow(`the value of 'startDate' is "${date}"`);
});

test.each([
  ['01:30:00', {}],
  ['01:30:00.500', {}],
  ['01:30:01', { duration: 5_401_000 }],
  ['', { duration: null }],
])('the duration "%s" of an event of 5,400.5 seconds changes %o: whole seconds are shown', (duration, changes) => {
  const current = { ...newEventColumns(new Map(), NOW), duration: 5_400_500 };
  expect(changedColumns(new Map([['duration', duration]]), current)).toEqual(changes);
});
