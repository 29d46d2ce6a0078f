import { describe, expect, test } from 'vitest';
import type { PlannedRecording } from '#capture/schedules/timetable.queries.ts';
import { blocksOf, hoursOf } from './agent-plan.ts';
import {
  addDays,
  dateOf,
  dayOf,
  mondayOf,
  parseDay,
  parseWeek,
  periodOfDays,
  timesOf,
  weekName,
} from './local-days.ts';

const BERLIN = 'Europe/Berlin';
const KIRITIMATI = 'Pacific/Kiritimati';

describe('days and weeks', () => {
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
    expect(dateOf(parseWeek(text) ?? Number.NaN)).toBe(monday);
  });

  test.each([
    ...['', '2026', '2026-W00', '2025-W53', '2026-W54', '2026-W99', '2026-w48', '2026-W4', '0000-W01'],
    ...['9999-W52', '2026-02-29', '2026-13-01', '2026-11-00', '2026-11-5', '0001-01-01', '9999-01-01'],
    ...[' 2026-11-25', '1e3-01-01'],
  ])('%j names neither a day nor a week', (text) => {
    expect([parseDay(text), parseWeek(text)]).toEqual([undefined, undefined]);
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

  test.each([
    ['2026-03-29', BERLIN, 23],
    ['2026-10-25', BERLIN, 25],
    ['2026-11-25', BERLIN, 24],
    ['2026-04-05', 'Australia/Lord_Howe', 24.5],
  ])('%s in %s has %d hours', (date, timeZone, hours) => {
    const { start, end } = periodOfDays(parseDay(date) ?? Number.NaN, 1, timeZone);
    expect((end.getTime() - start.getTime()) / 3_600_000).toBe(hours);
  });
});

/** A recording between two times in UTC, such as `2026-11-25 09:15`. */
const recording = (start: string, end: string): PlannedRecording => ({
  ...{ eventId: start, agentId: 'Hall 1', title: 'Lecture', status: 'SCHEDULED' },
  ...{ recordingState: '', publicationId: null },
  start: new Date(`${start}Z`),
  end: new Date(`${end}Z`),
});
const on = (date: string, timeZone: string, recordings: PlannedRecording[]) =>
  blocksOf(recordings, parseDay(date) ?? Number.NaN, timeZone);
const LECTURE = ['2026-11-25 09:15', '2026-11-25 10:45'] as const;
const LONG = ['2026-11-24 22:00', '2026-11-26 23:00'] as const;

test.each<[string, string, readonly [start: string, end: string], number[][]]>([
  ['UTC', '2026-11-25', LECTURE, [[555, 90]]],
  [BERLIN, '2026-11-25', LECTURE, [[615, 90]]],
  ['Asia/Kolkata', '2026-11-25', LECTURE, [[885, 90]]],
  ['Pacific/Auckland', '2026-11-25', LECTURE, [[1335, 90]]],
  [KIRITIMATI, '2026-11-25', LECTURE, [[1395, 45]]],
  [KIRITIMATI, '2026-11-26', LECTURE, [[0, 45]]],
  [BERLIN, '2026-11-24', LECTURE, []],
  [BERLIN, '2026-11-26', LECTURE, []],
  // At the same hour before and after the clocks are changed.
  [BERLIN, '2026-10-24', ['2026-10-24 07:00', '2026-10-24 08:00'], [[540, 60]]],
  [BERLIN, '2026-10-25', ['2026-10-24 07:00', '2026-10-24 08:00'], []],
  [BERLIN, '2026-10-25', ['2026-10-25 08:00', '2026-10-25 09:00'], [[540, 60]]],
  // Over the hour that is skipped: 01:30 to 03:30, which is one hour.
  [BERLIN, '2026-03-29', ['2026-03-29 00:30', '2026-03-29 01:30'], [[90, 120]]],
  // Over the one that comes twice: 02:45 to 02:15, which is half an hour; 01:30 to 02:30, which is two.
  [BERLIN, '2026-10-25', ['2026-10-25 00:45', '2026-10-25 01:15'], [[165, 15]]],
  [BERLIN, '2026-10-25', ['2026-10-24 23:30', '2026-10-25 01:30'], [[90, 60]]],
  // Part by part on each of its days, up to midnight.
  [BERLIN, '2026-11-24', LONG, [[1380, 60]]],
  [BERLIN, '2026-11-25', LONG, [[0, 1440]]],
  [BERLIN, '2026-11-26', LONG, [[0, 1440]]],
  [BERLIN, '2026-11-27', LONG, []],
  // To be seen, however short it is.
  ['UTC', '2026-11-25', ['2026-11-25 09:00', '2026-11-25 09:00:00.001'], [[540, 15]]],
])('a recording stands where the clocks of its zone show it: in %s on %s', (zone, date, times, blocks) => {
  expect(on(date, zone, [recording(...times)]).map(({ from, length }) => [from, length])).toEqual(blocks);
});

test('recordings that overlap stand beside one another, and those after them have all the room again', () => {
  const hours = (start: string, end: string) => recording(`2026-11-25 ${start}:00`, `2026-11-25 ${end}:00`);
  const lanes = on('2026-11-25', 'UTC', [
    ...[hours('08', '10'), hours('09', '11'), hours('10', '12'), hours('12', '13')],
  ]);
  expect(lanes.map(({ lane, lanes: of }) => `${lane} of ${of}`)).toEqual([...['0 of 2', '1 of 2', '0 of 2', '0 of 1']]);
  const many = Array.from({ length: 9 }, () => hours('08', '10'));
  expect(Math.max(...on('2026-11-25', 'UTC', many).map(({ lane }) => lane))).toBe(3);
});

test('a plan shows the usual hours, and more where something stands', () => {
  const block = (from: number, length: number) => ({
    ...{ recording: recording(...LECTURE), lane: 0, lanes: 1 },
    ...{ from, length },
  });
  expect(hoursOf([])).toEqual({ first: 8, last: 18 });
  expect(hoursOf([block(600, 60)])).toEqual({ first: 8, last: 18 });
  expect(hoursOf([block(425, 20), block(1080, 61)])).toEqual({ first: 7, last: 20 });
  expect(hoursOf([block(0, 1440)])).toEqual({ first: 0, last: 24 });
});

test('times tell the days that are not known', () => {
  const [before, day] = [parseDay('2026-11-24'), parseDay('2026-11-25')];
  const [lecture, night] = [recording(...LECTURE), recording('2026-11-24 22:30', '2026-11-25 01:00')];
  expect(timesOf(lecture, BERLIN, day)).toBe('10:15–11:45');
  expect(timesOf(lecture, BERLIN)).toBe('Wed 25 Nov 10:15–11:45');
  expect(timesOf(lecture, BERLIN, before)).toBe('Wed 25 Nov 10:15–11:45');
  expect(timesOf(night, BERLIN, day)).toBe('Tue 24 Nov 23:30–02:00');
  expect(timesOf(night, BERLIN, before)).toBe('23:30–Wed 25 Nov 02:00');
});
