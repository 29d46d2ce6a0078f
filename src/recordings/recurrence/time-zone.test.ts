import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instantOf, isTimeZone, offsetAt } from './time-zone.ts';

const HOUR = 3_600_000;
const at = (text: string) => Date.parse(`${text}Z`);
const instant = (local: string, zone: string) => new Date(instantOf(at(local), zone)).toISOString();

test('names of the IANA database are time zones, whatever the case of their letters', () => {
  for (const name of [
    'UTC',
    'Europe/Berlin',
    'europe/berlin',
    'US/Eastern',
    'Etc/GMT+5',
    'EST5EDT',
    'America/Argentina/ComodRivadavia',
  ]) {
    expect(isTimeZone(name), name).toBe(true);
  }
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

describe('a local time that the clocks skip counts from the offset before the gap', () => {
  test.each([
    ['Europe/Berlin', '2030-03-31T02:30:00', '2030-03-31T01:30:00.000Z'],
    ['America/New_York', '2030-03-10T02:30:00', '2030-03-10T07:30:00.000Z'],
    ['Australia/Lord_Howe', '2030-10-06T02:15:00', '2030-10-05T15:45:00.000Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00', '2011-12-30T20:00:00.000Z'],
  ])('%s at %s', (zone, local, expected) => expect(instant(local, zone)).toBe(expected));
});

describe('of a local time that the clocks show twice the first is taken', () => {
  test.each([
    ['Europe/Berlin', '2030-10-27T02:30:00', '2030-10-27T00:30:00.000Z'],
    ['America/New_York', '2030-11-03T01:30:00', '2030-11-03T05:30:00.000Z'],
    ['Australia/Lord_Howe', '2030-04-07T01:45:00', '2030-04-06T14:45:00.000Z'],
  ])('%s at %s', (zone, local, expected) => expect(instant(local, zone)).toBe(expected));
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
    { numRuns: 300 },
  );
});
