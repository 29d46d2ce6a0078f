import { describe, expect, test } from 'vitest';
import type { PlannedRecording } from '../../recordings/schedules/timetable.queries.ts';
import { parseDay } from './days.ts';
import { periodOfDays, timesOf } from './local.ts';
import { blocksOf, hoursOf } from './place.ts';

const BERLIN = 'Europe/Berlin';
const recording = (start: string, end: string): PlannedRecording => ({
  eventId: start,
  agentId: 'Hall 1',
  title: 'Lecture',
  status: 'SCHEDULED',
  recordingState: '',
  publicationId: null,
  start: new Date(start),
  end: new Date(end),
});
const on = (date: string, timeZone: string, ...recordings: PlannedRecording[]) =>
  blocksOf(recordings, parseDay(date) ?? Number.NaN, timeZone).map(({ from, length }) => [from, length]);

describe('a recording stands where the clocks of its zone show it', () => {
  const lecture = recording('2026-11-25T09:15:00Z', '2026-11-25T10:45:00Z');
  test.each([
    ['UTC', '2026-11-25', [[555, 90]]],
    [BERLIN, '2026-11-25', [[615, 90]]],
    ['Asia/Kolkata', '2026-11-25', [[885, 90]]],
    ['Pacific/Auckland', '2026-11-25', [[1335, 90]]],
    ['Pacific/Kiritimati', '2026-11-25', [[1395, 45]]],
    ['Pacific/Kiritimati', '2026-11-26', [[0, 45]]],
    [BERLIN, '2026-11-24', []],
    [BERLIN, '2026-11-26', []],
  ])('in %s on %s', (timeZone, date, blocks) => {
    expect(on(date, timeZone, lecture)).toEqual(blocks);
  });

  test('at the same hour before and after the clocks are changed', () => {
    const [before, after] = [
      recording('2026-10-24T07:00:00Z', '2026-10-24T08:00:00Z'),
      recording('2026-10-25T08:00:00Z', '2026-10-25T09:00:00Z'),
    ];
    expect(on('2026-10-24', BERLIN, before, after)).toEqual([[540, 60]]);
    expect(on('2026-10-25', BERLIN, before, after)).toEqual([[540, 60]]);
  });

  test('over the hour that is skipped, and over the one that comes twice', () => {
    // 01:30 to 03:30, which is one hour; 02:45 to 02:15, which is half an hour; 01:30 to 02:30, which is two.
    expect(on('2026-03-29', BERLIN, recording('2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'))).toEqual([
      [90, 120],
    ]);
    expect(on('2026-10-25', BERLIN, recording('2026-10-25T00:45:00Z', '2026-10-25T01:15:00Z'))).toEqual([
      [165, 15],
    ]);
    expect(on('2026-10-25', BERLIN, recording('2026-10-24T23:30:00Z', '2026-10-25T01:30:00Z'))).toEqual([
      [90, 60],
    ]);
  });

  test('part by part on each of its days, up to midnight', () => {
    const long = recording('2026-11-24T22:00:00Z', '2026-11-26T23:00:00Z');
    expect(on('2026-11-24', BERLIN, long)).toEqual([[1380, 60]]);
    expect(on('2026-11-25', BERLIN, long)).toEqual([[0, 1440]]);
    expect(on('2026-11-26', BERLIN, long)).toEqual([[0, 1440]]);
    expect(on('2026-11-27', BERLIN, long)).toEqual([]);
  });

  test('and is to be seen, however short it is', () => {
    expect(on('2026-11-25', 'UTC', recording('2026-11-25T09:00:00Z', '2026-11-25T09:00:00.001Z'))).toEqual([
      [540, 15],
    ]);
  });
});

test('recordings that overlap stand beside one another, and those after them have all the room again', () => {
  const lanes = blocksOf(
    [
      recording('2026-11-25T08:00:00Z', '2026-11-25T10:00:00Z'),
      recording('2026-11-25T09:00:00Z', '2026-11-25T11:00:00Z'),
      recording('2026-11-25T10:00:00Z', '2026-11-25T12:00:00Z'),
      recording('2026-11-25T12:00:00Z', '2026-11-25T13:00:00Z'),
    ],
    parseDay('2026-11-25') ?? Number.NaN,
    'UTC',
  );
  expect(lanes.map(({ lane, lanes: of }) => [lane, of])).toEqual([
    [0, 2],
    [1, 2],
    [0, 2],
    [0, 1],
  ]);
  const many = Array.from({ length: 9 }, () => recording('2026-11-25T08:00:00Z', '2026-11-25T10:00:00Z'));
  expect(
    Math.max(...blocksOf(many, parseDay('2026-11-25') ?? Number.NaN, 'UTC').map(({ lane }) => lane)),
  ).toBe(3);
});

test('a plan shows the usual hours, and more where something stands', () => {
  const block = (from: number, length: number) => ({
    recording: recording('', ''),
    from,
    length,
    lane: 0,
    lanes: 1,
  });
  expect(hoursOf([])).toEqual({ first: 8, last: 18 });
  expect(hoursOf([block(600, 60)])).toEqual({ first: 8, last: 18 });
  expect(hoursOf([block(425, 20), block(1080, 61)])).toEqual({ first: 7, last: 20 });
  expect(hoursOf([block(0, 1440)])).toEqual({ first: 0, last: 24 });
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

test('times tell the days that are not known', () => {
  const day = parseDay('2026-11-25');
  const [lecture, night] = [
    recording('2026-11-25T09:15:00Z', '2026-11-25T10:45:00Z'),
    recording('2026-11-24T22:30:00Z', '2026-11-25T01:00:00Z'),
  ];
  expect(timesOf(lecture, BERLIN, day)).toBe('10:15–11:45');
  expect(timesOf(lecture, BERLIN)).toBe('Wed 25 Nov 10:15–11:45');
  expect(timesOf(lecture, BERLIN, parseDay('2026-11-24'))).toBe('Wed 25 Nov 10:15–11:45');
  expect(timesOf(night, BERLIN, day)).toBe('Tue 24 Nov 23:30–02:00');
  expect(timesOf(night, BERLIN, parseDay('2026-11-24'))).toBe('23:30–Wed 25 Nov 02:00');
});
