import rrule from 'rrule';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { occurrencesOf } from './occurrences.ts';

afterEach(() => vi.restoreAllMocks());

const JANUARY = ['2030-01-01T00:00:00Z', '2030-01-31T23:59:59Z'] as const;

function starts(
  rule: string,
  [start, end]: readonly [string, string] = JANUARY,
  maxOccurrences = 1000,
): string[] {
  const period = { start: new Date(start), end: new Date(end) };
  const text = `${rule};BYHOUR=9;BYMINUTE=30`;
  return occurrencesOf({ ...period, rule: text, timeZone: 'UTC', maxOccurrences }).map((date) =>
    date.toISOString(),
  );
}
const days = (...args: Parameters<typeof starts>) => starts(...args).map((text) => text.slice(0, 10));

test('a weekly rule gives its weekdays at its time, in order', () => {
  expect(starts('FREQ=WEEKLY;BYDAY=TH,MO', ['2030-01-01T00:00:00Z', '2030-01-14T23:00:00Z'])).toEqual([
    '2030-01-03T09:30:00.000Z',
    '2030-01-07T09:30:00.000Z',
    '2030-01-10T09:30:00.000Z',
    '2030-01-14T09:30:00.000Z',
  ]);
});

test('seconds are none unless the rule names them', () => {
  const [first] = starts('FREQ=DAILY;BYSECOND=15');
  expect(first).toBe('2030-01-01T09:30:15.000Z');
});

test('recordings start at the ends of the period, but not a moment outside of it', () => {
  expect(days('FREQ=DAILY', ['2030-01-01T09:30:00.000Z', '2030-01-03T09:30:00.000Z'])).toEqual([
    '2030-01-01',
    '2030-01-02',
    '2030-01-03',
  ]);
  expect(days('FREQ=DAILY', ['2030-01-01T09:30:00.001Z', '2030-01-03T09:29:59.999Z'])).toEqual([
    '2030-01-02',
  ]);
});

describe('what a rule leaves open is as on the day of the start', () => {
  const tuesday = ['2030-01-29T00:00:00Z', '2031-03-01T00:00:00Z'] as const;
  test('the weekday of a weekly one', () => {
    expect(days('FREQ=WEEKLY;INTERVAL=26', tuesday)).toEqual(['2030-01-29', '2030-07-30', '2031-01-28']);
  });
  test('the day of a monthly one, which February has not', () => {
    expect(days('FREQ=MONTHLY;COUNT=3', tuesday)).toEqual(['2030-01-29', '2030-03-29', '2030-04-29']);
  });
  test('the day and month of a yearly one', () => {
    expect(days('FREQ=YEARLY', tuesday)).toEqual(['2030-01-29', '2031-01-29']);
    expect(days('FREQ=YEARLY;BYMONTH=5,6', tuesday)).toEqual(['2030-05-29', '2030-06-29']);
  });
  test('the weekday of one that names weeks of the year', () => {
    expect(days('FREQ=YEARLY;BYWEEKNO=20', tuesday)).toEqual(['2030-05-14']);
  });
});

test('an interval leaves out days, weeks, months and years', () => {
  const long = ['2030-01-01T00:00:00Z', '2036-12-31T23:00:00Z'] as const;
  expect(days('FREQ=DAILY;INTERVAL=300;COUNT=3', long)).toEqual(['2030-01-01', '2030-10-28', '2031-08-24']);
  expect(days('FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=-1;COUNT=3', long)).toEqual([
    '2030-01-31',
    '2030-06-30',
    '2030-11-30',
  ]);
  expect(days('FREQ=YEARLY;INTERVAL=3;BYYEARDAY=-1', long)).toEqual([
    '2030-12-31',
    '2033-12-31',
    '2036-12-31',
  ]);
});

test('the first day of the week decides which days an interval of weeks leaves out (RFC 5545, 3.8.5.3)', () => {
  const august = ['1997-08-05T00:00:00Z', '1997-09-30T00:00:00Z'] as const;
  const rule = 'FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU';
  expect(days(`${rule};WKST=MO`, august)).toEqual(['1997-08-05', '1997-08-10', '1997-08-19', '1997-08-24']);
  expect(days(`${rule};WKST=SU`, august)).toEqual(['1997-08-05', '1997-08-17', '1997-08-19', '1997-08-31']);
});

test('positions choose among the days of a week, a month and a year', () => {
  const year = ['2030-01-01T00:00:00Z', '2030-12-31T23:00:00Z'] as const;
  expect(days('FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,1;COUNT=3', year)).toEqual([
    '2030-01-01',
    '2030-01-31',
    '2030-02-01',
  ]);
  expect(days('FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2;COUNT=2', year)).toEqual(['2030-01-02', '2030-01-09']);
  expect(days('FREQ=YEARLY;BYDAY=SU;BYSETPOS=-2', year)).toEqual(['2030-12-22']);
  expect(days('FREQ=DAILY;BYSETPOS=-1;COUNT=1', year)).toEqual(['2030-01-01']);
});

test('a position that a month is too short for chooses nothing there', () => {
  // Five Mondays: April, July, September and December.
  const year = ['2030-01-01T00:00:00Z', '2030-12-31T23:00:00Z'] as const;
  expect(days('FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-5', year)).toEqual([
    '2030-04-01',
    '2030-07-01',
    '2030-09-02',
    '2030-12-02',
  ]);
});

test('COUNT counts from the start of the period', () => {
  expect(days('FREQ=DAILY;COUNT=2', ['2030-01-01T10:00:00Z', '2030-01-31T00:00:00Z'])).toEqual([
    '2030-01-02',
    '2030-01-03',
  ]);
});

test('UNTIL ends a rule before the period does; a date includes its day', () => {
  expect(days('FREQ=DAILY;UNTIL=20300103')).toEqual(['2030-01-01', '2030-01-02', '2030-01-03']);
  expect(days('FREQ=DAILY;UNTIL=20300102T093000Z')).toEqual(['2030-01-01', '2030-01-02']);
  expect(days('FREQ=DAILY;UNTIL=20300102T092959Z')).toEqual(['2030-01-01']);
});

test('a COUNT or UNTIL that reaches past the period ends with it', () => {
  const morning = ['2030-01-01T00:00:00Z', '2030-01-02T09:30:00Z'] as const;
  for (const until of ['20300102', '20300103', '20300102T093001Z', '20991231T235959Z']) {
    expect(days(`FREQ=DAILY;UNTIL=${until}`, morning)).toEqual(['2030-01-01', '2030-01-02']);
  }
  expect(days('FREQ=WEEKLY;COUNT=5')).toHaveLength(5);
  expect(days('FREQ=WEEKLY;COUNT=6')).toEqual(days('FREQ=WEEKLY;COUNT=5'));
});

test('a rule that gives nothing is refused', () => {
  const nothing = 'The date range provided did not include any events';
  for (const rule of [
    'FREQ=WEEKLY;BYDAY=MO;BYMONTH=2',
    'FREQ=DAILY;UNTIL=20291231',
    'FREQ=WEEKLY;BYDAY=MO;COUNT=3;BYMONTH=2',
    'FREQ=MONTHLY;BYSETPOS=2',
  ]) {
    expect(() => starts(rule)).toThrow(expect.objectContaining({ status: 400, message: nothing }));
  }
});

test('more than the highest number of events is refused, and exactly so many are not', () => {
  expect(days('FREQ=DAILY', JANUARY, 31)).toHaveLength(31);
  expect(() => starts('FREQ=DAILY', JANUARY, 30)).toThrow(
    /^Invalid RRule: .* the rrule gives more than 30 events; allowed are 30$/,
  );
  expect(() => starts('FREQ=DAILY;COUNT=31', JANUARY, 30)).toThrow(/more than 30 events/);
});

test('rules that hardly ever or never match are searched through one year of each kind', () => {
  const search = vi.spyOn(rrule.RRule.prototype, 'all');
  const centuries = ['1970-01-01T00:00:00Z', '2199-12-31T23:59:59Z'] as const;
  for (const rule of [
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;INTERVAL=7;BYDAY=MO',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2',
    'FREQ=MONTHLY;BYMONTHDAY=1,2,3;BYSETPOS=4',
    `FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYYEARDAY=${Array.from({ length: 200 }, (_, i) => i + 1)}`,
  ]) {
    search.mockClear();
    expect(() => starts(rule, centuries)).toThrow('did not include any events');
    // There are 14 kinds: a leap year or not, and the weekday it begins with.
    expect(search.mock.calls.length).toBeGreaterThanOrEqual(14);
    expect(search.mock.calls.length).toBeLessThanOrEqual(21);
  }
});
