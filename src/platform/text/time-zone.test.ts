import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { occurrencesOf } from '#capture/recurrence/occurrences.ts';
import { instantOf, isTimeZone, offsetAt } from './time-zone.ts';

const HOUR = 3_600_000;
const at = (text: string) => Date.parse(`${text}Z`);

test('names of the IANA database are time zones, whatever the case of their letters', () => {
  const names = ['UTC', 'Europe/Berlin', 'europe/berlin', 'US/Eastern', 'Etc/GMT+5', 'EST5EDT'];
  for (const name of names) expect(isTimeZone(name), name).toBe(true);
});

test('offsets, unknown names and other texts are no time zones', () => {
  for (const name of ['', '+01:00', 'GMT+1', 'Mars/Olympus', 'Europe/Berlin\0', ' UTC', 'a'.repeat(10_000)]) {
    expect(isTimeZone(name), name.slice(0, 20)).toBe(false);
  }
});

test('an offset may be of half an hour, west of UTC, and even of seconds', () => {
  expect(offsetAt(at('2030-01-15T12:00:00'), 'UTC')).toBe(0);
  expect(offsetAt(at('2030-01-15T12:00:00'), 'Asia/Kolkata')).toBe(5.5 * HOUR);
  expect(offsetAt(at('2030-01-15T12:00:00'), 'America/New_York')).toBe(-5 * HOUR);
  expect(offsetAt(at('1970-01-15T12:00:00'), 'Africa/Monrovia')).toBe(-(44 * 60 + 30) * 1000);
});

test('an offset changes with the millisecond in which the clocks do', () => {
  const change = at('2030-03-31T01:00:00');
  expect(offsetAt(change - 1, 'Europe/Berlin')).toBe(HOUR);
  expect(offsetAt(change, 'Europe/Berlin')).toBe(2 * HOUR);
});

test.each([
  ['counts from the offset before the gap', 'Europe/Berlin', '2030-03-31T02:30', '2030-03-31T01:30'],
  ['counts from the offset before the gap', 'America/New_York', '2030-03-10T02:30', '2030-03-10T07:30'],
  ['counts from the offset before the gap', 'Australia/Lord_Howe', '2030-10-06T02:15', '2030-10-05T15:45'],
  ['counts from the offset before the gap', 'Pacific/Apia', '2011-12-30T10:00', '2011-12-30T20:00'],
  ['is the first of two that look the same', 'Europe/Berlin', '2030-10-27T02:30', '2030-10-27T00:30'],
  ['is the first of two that look the same', 'America/New_York', '2030-11-03T01:30', '2030-11-03T05:30'],
  ['is the first of two that look the same', 'Australia/Lord_Howe', '2030-04-07T01:45', '2030-04-06T14:45'],
])('a local time that clocks skip or repeat %s: %s, %s', (_, zone, local, expected) => {
  expect(new Date(instantOf(at(local), zone)).toISOString()).toBe(`${expected}:00.000Z`);
});

test('what clocks show at an instant leads back to it, or to the first of two that look the same', () => {
  const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia'];
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: at('1975-01-01T00:00:00'), max: at('2199-12-31T00:00:00') }),
      (zone, moment) => {
        const local = moment + offsetAt(moment, zone);
        const found = instantOf(local, zone);
        expect(found + offsetAt(found, zone)).toBe(local);
        expect([0, HOUR, HOUR / 2]).toContain(moment - found);
      },
    ),
    { numRuns: 100 },
  );
});

describe('recordings that recur', () => {
  /** The starts in UTC by a rule, from a day on for so many days. */
  function starts(zone: string, from: string, time: string, days: number, rule = 'FREQ=DAILY'): string[] {
    const start = new Date(at(`${from}T00:00:00`));
    const end = new Date(start.getTime() + days * 24 * HOUR - 1);
    const [hour, minute] = time.split(':').map(Number);
    const text = `${rule};BYHOUR=${hour};BYMINUTE=${minute}`;
    const found = occurrencesOf({ rule: text, start, end, timeZone: zone, maxOccurrences: 1000 });
    return found.map((instant) => instant.toISOString().slice(0, 16));
  }

  test.each([
    ['09:00 in Berlin, in spring', 'Europe/Berlin', '2030-03-30', '8:00', '08:00 07:00 07:00'],
    ['09:00 in Berlin, in autumn', 'Europe/Berlin', '2030-10-26', '7:00', '07:00 08:00 08:00'],
    ['09:00 in New York, in spring', 'America/New_York', '2030-03-09', '14:00', '14:00 13:00 13:00'],
    ['09:00 in New York, in autumn', 'America/New_York', '2030-11-02', '13:00', '13:00 14:00 14:00'],
    ['09:00 on Lord Howe Island', 'Australia/Lord_Howe', '2030-04-05', '22:00', '22:00 22:30 22:30'],
    ['02:30 skipped: an hour later', 'Europe/Berlin', '2030-03-30', '1:30', '01:30 01:30 00:30'],
    ['01:30 twice: the first', 'America/New_York', '2030-11-02', '5:30', '05:30 05:30 06:30'],
    ['no change in Kolkata', 'Asia/Kolkata', '2030-03-30', '3:30', '03:30 03:30 03:30'],
    ['no change in UTC', 'UTC', '2030-03-30', '3:30', '03:30 03:30 03:30'],
    ['one day left out in Apia', 'Pacific/Apia', '2011-12-28', '20:00', '20:00 20:00 20:00'],
  ])('keep the time of the clocks: %s', (_, zone, from, time, times) => {
    const expected = times.split(' ').map((clock, day) => {
      const date = new Date(at(`${from}T00:00:00`) + day * 24 * HOUR);
      return `${date.toISOString().slice(0, 10)}T${clock}`;
    });
    expect(starts(zone, from, time, 3)).toEqual(expected);
  });

  test('keep the time of the clocks when these change twice in the period', () => {
    const monday = starts('Europe/Berlin', '2030-01-01', '8:00', 365, 'FREQ=WEEKLY;BYDAY=MO');
    expect(monday).toHaveLength(52);
    expect(monday.filter((start) => start.endsWith('T07:00'))).toEqual(
      monday.filter((start) => start > '2030-03-31' && start < '2030-10-27'),
    );
  });

  test.each([
    // Mondays at 20:00 in New York, before and after the change.
    ['America/New_York', '2030-10-29', '0:00', 14, 'TU', '2030-10-29T00:00 2030-11-05T01:00'],
    // The change leads into the next day in UTC.
    ['America/New_York', '2030-10-28', '23:30', 15, 'MO', '2030-10-28T23:30 2030-11-05T00:30'],
    // Thursdays at 01:30 in Berlin: the change leads into the day before in UTC, and so into the period.
    ['Europe/Berlin', '2030-03-28', '0:30', 7, 'TH', '2030-03-28T00:30 2030-04-03T23:30'],
  ])('are on weekdays of UTC in %s from %s at %s', (zone, from, time, days, weekday, expected) => {
    expect(starts(zone, from, time, days, `FREQ=WEEKLY;BYDAY=${weekday}`).join(' ')).toBe(expected);
  });

  test('by an agent in an unknown zone are a fault, not at a wrong time', () => {
    expect(() => starts('Mars/Olympus', '2030-01-01', '9:00', 3)).toThrow(RangeError);
  });
});
