import { describe, expect, test } from 'vitest';
import { occurrencesOf } from './occurrences.ts';

/** When recordings start by a daily rule, unless another one is given, on some days from the first one on. */
function starts(timeZone: string, from: string, days: number, time: string, rule = 'FREQ=DAILY'): string[] {
  const start = new Date(`${from}T00:00:00Z`);
  const end = new Date(start.getTime() + days * 86_400_000 - 1);
  const [hour, minute] = time.split(':').map(Number);
  const text = `${rule};BYHOUR=${hour};BYMINUTE=${minute}`;
  return occurrencesOf({ rule: text, start, end, timeZone, maxOccurrences: 1000 }).map((date) =>
    date.toISOString().slice(0, 16),
  );
}

describe('a time of the day is kept when the clocks change', () => {
  test('east of UTC, in spring: 09:00 in Berlin', () => {
    expect(starts('Europe/Berlin', '2030-03-30', 3, '8:00')).toEqual([
      '2030-03-30T08:00',
      '2030-03-31T07:00',
      '2030-04-01T07:00',
    ]);
  });
  test('east of UTC, in autumn: 09:00 in Berlin', () => {
    expect(starts('Europe/Berlin', '2030-10-26', 3, '7:00')).toEqual([
      '2030-10-26T07:00',
      '2030-10-27T08:00',
      '2030-10-28T08:00',
    ]);
  });
  test('west of UTC, in spring: 09:00 in New York', () => {
    expect(starts('America/New_York', '2030-03-09', 3, '14:00')).toEqual([
      '2030-03-09T14:00',
      '2030-03-10T13:00',
      '2030-03-11T13:00',
    ]);
  });
  test('west of UTC, in autumn: 09:00 in New York', () => {
    expect(starts('America/New_York', '2030-11-02', 3, '13:00')).toEqual([
      '2030-11-02T13:00',
      '2030-11-03T14:00',
      '2030-11-04T14:00',
    ]);
  });
  test('by half an hour: 09:00 on Lord Howe Island', () => {
    expect(starts('Australia/Lord_Howe', '2030-04-05', 3, '22:00')).toEqual([
      '2030-04-05T22:00',
      '2030-04-06T22:30',
      '2030-04-07T22:30',
    ]);
  });
  test('twice in the period', () => {
    const monday = starts('Europe/Berlin', '2030-01-01', 365, '8:00', 'FREQ=WEEKLY;BYDAY=MO');
    expect(monday).toHaveLength(52);
    expect(monday.filter((start) => start.endsWith('T07:00'))).toEqual(
      monday.filter((start) => start > '2030-03-31' && start < '2030-10-27'),
    );
  });
});

test('where clocks never change, and in UTC, recordings start at the same time in UTC', () => {
  const same = ['2030-03-30T03:30', '2030-03-31T03:30', '2030-04-01T03:30'];
  expect(starts('Asia/Kolkata', '2030-03-30', 3, '3:30')).toEqual(same);
  expect(starts('UTC', '2030-03-30', 3, '3:30')).toEqual(same);
});

describe('a time that the clocks skip is an hour later that day (RFC 5545)', () => {
  test('02:30 in Berlin becomes 03:30', () => {
    expect(starts('Europe/Berlin', '2030-03-30', 3, '1:30')).toEqual([
      '2030-03-30T01:30',
      '2030-03-31T01:30',
      '2030-04-01T00:30',
    ]);
  });
  test('02:30 in New York becomes 03:30', () => {
    expect(starts('America/New_York', '2030-03-09', 3, '7:30')).toEqual([
      '2030-03-09T07:30',
      '2030-03-10T07:30',
      '2030-03-11T06:30',
    ]);
  });
});

describe('a time that the clocks show twice is the first of the two', () => {
  test('02:30 in Berlin', () => {
    expect(starts('Europe/Berlin', '2030-10-26', 3, '0:30')).toEqual([
      '2030-10-26T00:30',
      '2030-10-27T00:30',
      '2030-10-28T01:30',
    ]);
  });
  test('01:30 in New York', () => {
    expect(starts('America/New_York', '2030-11-02', 3, '5:30')).toEqual([
      '2030-11-02T05:30',
      '2030-11-03T05:30',
      '2030-11-04T06:30',
    ]);
  });
});

describe('weekdays are those of UTC when the agent has another one', () => {
  test('Mondays at 20:00 in New York are Tuesdays in UTC, before and after the change', () => {
    expect(starts('America/New_York', '2030-10-29', 14, '0:00', 'FREQ=WEEKLY;BYDAY=TU')).toEqual([
      '2030-10-29T00:00',
      '2030-11-05T01:00',
    ]);
  });
  test('a change that leads into the next day in UTC still keeps the time in New York', () => {
    expect(starts('America/New_York', '2030-10-28', 15, '23:30', 'FREQ=WEEKLY;BYDAY=MO')).toEqual([
      '2030-10-28T23:30',
      '2030-11-05T00:30',
    ]);
  });
  test('a change that leads into the day before in UTC brings the last recording into the period', () => {
    // Thursdays at 01:30 in Berlin.
    expect(starts('Europe/Berlin', '2030-03-28', 7, '0:30', 'FREQ=WEEKLY;BYDAY=TH')).toEqual([
      '2030-03-28T00:30',
      '2030-04-03T23:30',
    ]);
  });
});

test('a day that is left out at the date line is not recorded twice', () => {
  // In Apia 29 December 2011 was followed by the 31st.
  expect(starts('Pacific/Apia', '2011-12-28', 5, '20:00')).toEqual([
    '2011-12-28T20:00',
    '2011-12-29T20:00',
    '2011-12-30T20:00',
    '2011-12-31T20:00',
    '2012-01-01T20:00',
  ]);
});

test('an agent in an unknown zone is a fault, not a recording at a wrong time', () => {
  expect(() => starts('Mars/Olympus', '2030-01-01', 3, '9:00')).toThrow(RangeError);
});
