import fc from 'fast-check';
import rrule from 'rrule';
import { describe, expect, test, vi } from 'vitest';
import { HttpError } from '#platform/http/errors/errors.ts';
import { offsetAt } from '#platform/text/time-zone.ts';
import { daysInYear, occurrencesOf, yearRule } from './occurrences.ts';
import { RuleText, readRule } from './recurrence-rule.ts';

const DAY = 86_400_000;
const JANUARY = '2030-01-01T00:00:00Z 2030-01-31T23:59:59Z';
const YEAR = '2030-01-01T00:00:00Z 2030-12-31T23:00:00Z';

function starts(rule: string, period = JANUARY, maxOccurrences = 1000): string[] {
  const [start, end] = period.split(' ').map((text) => new Date(text)) as [Date, Date];
  const text = `${rule};BYHOUR=9;BYMINUTE=30`;
  const found = occurrencesOf({ start, end, rule: text, timeZone: 'UTC', maxOccurrences });
  return found.map((date) => date.toISOString());
}
const days = (rule: string, period?: string) => starts(rule, period).map((text) => text.slice(0, 10));

test('recordings start at the time of their rule, with no seconds unless it names them', () => {
  expect(starts('FREQ=DAILY')[0]).toBe('2030-01-01T09:30:00.000Z');
  expect(starts('FREQ=DAILY;BYSECOND=15')[0]).toBe('2030-01-01T09:30:15.000Z');
});

test.each([
  ['2030-01-01T09:30:00.000Z 2030-01-03T09:30:00.000Z', ['2030-01-01', '2030-01-02', '2030-01-03']],
  ['2030-01-01T09:30:00.001Z 2030-01-03T09:29:59.999Z', ['2030-01-02']],
])('recordings start at the ends of the period, but not a moment outside of it: %s', (period, expected) => {
  expect(days('FREQ=DAILY', period)).toEqual(expected);
});

/** What a rule leaves open is as on the day of the start. */
const FROM_29TH = '2030-01-29T00:00:00Z 2031-03-01T00:00:00Z';
const LONG = '2030-01-01T00:00:00Z 2036-12-31T23:00:00Z';
// RFC 5545, 3.8.5.3.
const AUGUST = '1997-08-05T00:00:00Z 1997-09-30T00:00:00Z';
const FORTNIGHTLY = 'FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU';

test.each([
  ['its own weekday, if weekly', 'FREQ=WEEKLY;INTERVAL=26', FROM_29TH, '2030-01-29 2030-07-30 2031-01-28'],
  ['its own day, if monthly, not in February', 'FREQ=MONTHLY;COUNT=3', FROM_29TH, '2030-01-29 2030-03-29 2030-04-29'],
  ['its own day and month, if yearly', 'FREQ=YEARLY', FROM_29TH, '2030-01-29 2031-01-29'],
  ['its own day in the months that it names', 'FREQ=YEARLY;BYMONTH=5,6', FROM_29TH, '2030-05-29 2030-06-29'],
  ['its own weekday in the weeks that it names', 'FREQ=YEARLY;BYWEEKNO=20', FROM_29TH, '2030-05-14'],
  ['weekdays in order', 'FREQ=WEEKLY;BYDAY=TH,MO;COUNT=3', JANUARY, '2030-01-03 2030-01-07 2030-01-10'],
  ['an interval of days', 'FREQ=DAILY;INTERVAL=300;COUNT=3', LONG, '2030-01-01 2030-10-28 2031-08-24'],
  ['an interval of months', 'FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=-1;COUNT=3', LONG, '2030-01-31 2030-06-30 2030-11-30'],
  ['an interval of years', 'FREQ=YEARLY;INTERVAL=3;BYYEARDAY=-1', LONG, '2030-12-31 2033-12-31 2036-12-31'],
  ['weeks from Monday', `${FORTNIGHTLY};WKST=MO`, AUGUST, '1997-08-05 1997-08-10 1997-08-19 1997-08-24'],
  ['weeks from Sunday', `${FORTNIGHTLY};WKST=SU`, AUGUST, '1997-08-05 1997-08-17 1997-08-19 1997-08-31'],
  [
    'positions in a month',
    'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,1;COUNT=3',
    YEAR,
    '2030-01-01 2030-01-31 2030-02-01',
  ],
  ['a position in a week', 'FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2;COUNT=2', YEAR, '2030-01-02 2030-01-09'],
  ['a position in a year', 'FREQ=YEARLY;BYDAY=SU;BYSETPOS=-2', YEAR, '2030-12-22'],
  ['a position in a day', 'FREQ=DAILY;BYSETPOS=-1;COUNT=1', YEAR, '2030-01-01'],
  // Five Mondays: April, July, September and December.
  [
    'a position that most months are too short for',
    'FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-5',
    YEAR,
    '2030-04-01 2030-07-01 2030-09-02 2030-12-02',
  ],
  [
    'COUNT from the start of the period',
    'FREQ=DAILY;COUNT=2',
    '2030-01-01T10:00:00Z 2030-01-31T00:00:00Z',
    '2030-01-02 2030-01-03',
  ],
  ['UNTIL, whose date includes its day', 'FREQ=DAILY;UNTIL=20300102', JANUARY, '2030-01-01 2030-01-02'],
  ['UNTIL with a time', 'FREQ=DAILY;UNTIL=20300102T093000Z', JANUARY, '2030-01-01 2030-01-02'],
  ['UNTIL a second before one', 'FREQ=DAILY;UNTIL=20300102T092959Z', JANUARY, '2030-01-01'],
])('a rule gives the days that it should: %s', (_, rule, period, expected) => {
  expect(days(rule, period).join(' ')).toBe(expected);
});

test('a COUNT or UNTIL that reaches past the period ends with it', () => {
  for (const until of ['20300102', '20300103', '20300102T093001Z', '20991231T235959Z']) {
    const found = days(`FREQ=DAILY;UNTIL=${until}`, '2030-01-01T00:00:00Z 2030-01-02T09:30:00Z');
    expect(found).toEqual(['2030-01-01', '2030-01-02']);
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
  expect(starts('FREQ=DAILY', JANUARY, 31)).toHaveLength(31);
  expect(() => starts('FREQ=DAILY', JANUARY, 30)).toThrow(
    /^Invalid RRule: .* the rrule results in more than 30 events, the maximum$/,
  );
  expect(() => starts('FREQ=DAILY;COUNT=31', JANUARY, 30)).toThrow(/more than 30 events/);
});

test('rules that hardly ever or never match are searched through one year of each kind', () => {
  const search = vi.spyOn(rrule.RRule.prototype, 'all');
  const centuries = '1970-01-01T00:00:00Z 2199-12-31T23:59:59Z';
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

describe('the days of a year', () => {
  const newYearOf = (year: number) => Date.UTC(year, 0) / DAY;

  function daysOfYear(year: number, rule: string): number[] {
    const newYear = newYearOf(year);
    return daysInYear(newYear, yearRule(readRule(new RuleText(`${rule};BYHOUR=9;BYMINUTE=0`)), newYear));
  }

  test('the search ends with the year', () => {
    expect(daysOfYear(2030, 'FREQ=DAILY')).toEqual(Array.from({ length: 365 }, (_, day) => day));
    expect(daysOfYear(2032, 'FREQ=DAILY')).toHaveLength(366);
  });

  test('a numbered weekday counts in the month or in the year, whatever stands beside it', () => {
    expect(daysOfYear(2030, 'FREQ=YEARLY;BYDAY=1TU')).toEqual([0]);
    expect(daysOfYear(2030, 'FREQ=MONTHLY;BYDAY=-1TU')).toHaveLength(12);
    // 2030 has 53 Tuesdays, and January five.
    expect(daysOfYear(2030, 'FREQ=MONTHLY;BYDAY=TU,1WE')).toHaveLength(53 + 12);
    expect(daysOfYear(2030, 'FREQ=YEARLY;BYDAY=TU,1WE')).toHaveLength(53 + 1);
  });

  test('the numbers of weeks are those of ISO 8601, also in the days around New Year', () => {
    const every = 'BYDAY=MO,TU,WE,TH,FR,SA,SU';
    const around = [0, 1, 2, 3, 4, 5, 6, 360, 361, 362, 363, 364];
    // 28 years have every kind of year: a leap year or not, and each weekday it begins with.
    for (let year = 2000; year < 2028; year++) {
      const newYear = newYearOf(year);
      for (const number of [1, 52, 53]) {
        const found = daysOfYear(year, `FREQ=YEARLY;BYWEEKNO=${number};${every}`);
        expect(found.filter((day) => around.includes(day))).toEqual(
          around.filter((day) => isoWeek(newYear + day) === number),
        );
      }
    }
  });

  test('weeks may begin on another day, and be counted from the end of the year', () => {
    const last = daysOfYear(2030, 'FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO,TU,WE,TH,FR,SA,SU');
    // The week from 23 December; 30 December 2030 is a Monday in week 1 of 2031.
    expect(last).toEqual([356, 357, 358, 359, 360, 361, 362]);
    // The first week with four days in 2030 that begins on a Wednesday.
    expect(daysOfYear(2030, 'FREQ=YEARLY;BYWEEKNO=1;BYDAY=TU,WE;WKST=WE')).toEqual([1, 7]);
  });

  function isoWeek(day: number): number {
    const thursday = day - ((day + 3) % 7) + 3;
    const year = new Date(thursday * DAY).getUTCFullYear();
    return Math.floor((thursday - newYearOf(year)) / 7) + 1;
  }
});

describe('generated rules', () => {
  const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
  const zone = fc.constantFrom(
    ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia'],
  );
  const hour = fc.integer({ min: 0, max: 23 });
  const minute = fc.integer({ min: 0, max: 59 });
  /** Up to two years, anywhere between 1970 and 2199. */
  const period = fc
    .tuple(fc.integer({ min: 0, max: Date.UTC(2197, 0) }), fc.integer({ min: 0, max: 2 * 365 * DAY }))
    .map(([start, length]) => ({ start: new Date(start), end: new Date(start + length) }));

  /** The starts in milliseconds; none when the rule gives none. */
  function found(rule: string, { start, end }: { start: Date; end: Date }, timeZone = 'UTC'): number[] {
    try {
      return occurrencesOf({ rule, start, end, timeZone, maxOccurrences: 1000 }).map(Number);
    } catch (error) {
      if (error instanceof HttpError && error.message.startsWith('The date range')) return [];
      throw error;
    }
  }

  test('recordings follow each other within the period, at the same time by the clocks of the agent', () => {
    fc.assert(
      fc.property(zone, period, hour, minute, (timeZone, { start, end }, byHour, byMinute) => {
        const rule = `FREQ=DAILY;BYHOUR=${byHour};BYMINUTE=${byMinute}`;
        const instants = found(rule, { start, end }, timeZone);
        const first = Math.floor(start.getTime() / DAY) * DAY + (byHour * 60 + byMinute) * 60_000;
        const clock = (instant: number) => (((instant + offsetAt(instant, timeZone)) % DAY) + DAY) % DAY;
        // A time that clocks skip that day moves by as much as they do.
        const moved = (instant: number) => offsetAt(instant, timeZone) - offsetAt(instant - DAY, timeZone);
        const early = (instant: number) => (clock(first) + moved(instant)) % DAY;
        expect(instants).toEqual([...new Set(instants)].sort((one, other) => one - other));
        for (const instant of instants) {
          expect(instant).toBeGreaterThanOrEqual(start.getTime());
          expect(instant).toBeLessThanOrEqual(end.getTime());
          expect([clock(first), early(instant)]).toContain(clock(instant));
        }
      }),
      { numRuns: 10 },
    );
  });

  test('give what the package finds for them', () => {
    const nth = fc.constantFrom(1, 2, 3, 4, -1, -2);
    const day = fc.constantFrom(...WEEKDAYS);
    const days = fc.uniqueArray(day, { maxLength: 4 }).map((names) => (names.length > 0 ? `;BYDAY=${names}` : ''));
    const numbered = fc.tuple(nth, day).map((parts) => `;BYDAY=${parts.join('')}`);
    const parts: [string, fc.Arbitrary<string>][] = [
      ['DAILY', days],
      ['WEEKLY', fc.tuple(day, days).map(([start, names]) => `;WKST=${start}${names}`)],
      ['MONTHLY', fc.constantFrom(1, 15, 28, -1, -20).map((number) => `;BYMONTHDAY=${number}`)],
      ['MONTHLY', numbered],
      [
        'MONTHLY',
        fc
          .tuple(nth, day)
          .map(([position, name]) => `;BYDAY=${name},${name === 'MO' ? 'TU' : 'MO'};BYSETPOS=${position}`),
      ],
      ['YEARLY', numbered],
      ['YEARLY', fc.tuple(fc.integer({ min: 1, max: 12 }), numbered).map(([m, nd]) => `;BYMONTH=${m}${nd}`)],
      ['YEARLY', fc.integer({ min: 1, max: 365 }).map((number) => `;BYYEARDAY=${number}`)],
    ];
    const interval = fc.integer({ min: 1, max: 9 });
    const rule = fc.oneof(
      ...parts.map(([frequency, part]) =>
        fc
          .tuple(frequency === 'YEARLY' ? fc.constant(1) : interval, part)
          .map(([every, text]) => `FREQ=${frequency};INTERVAL=${every}${text}`),
      ),
    );
    fc.assert(
      fc.property(rule, period, (text, { start, end }) => {
        const midnight = new Date(Math.floor(start.getTime() / DAY) * DAY);
        const time = { dtstart: midnight, byhour: 9, byminute: 0, bysecond: 0 };
        const options = { ...rrule.RRule.parseString(text), ...time };
        const expected = new rrule.RRule(options, true).between(start, end, true).map(Number);
        expect(found(`${text};BYHOUR=9;BYMINUTE=0`, { start, end })).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test('any text is a rule or refused with a sentence', () => {
    const names = 'FREQ BYHOUR BYMINUTE BYDAY COUNT UNTIL BYSETPOS WKST X'.split(' ');
    const name = fc.constantFrom(...names);
    const value = fc.oneof(
      fc.constantFrom('DAILY', 'YEARLY', '1', '-1', '0', '1,1', '20300131', 'MO,1MO', '1e9', ''),
      fc.string(),
    );
    const parts = fc.array(
      fc.tuple(name, value).map(([key, text]) => `${key}=${text}`),
      { maxLength: 6 },
    );
    const text = fc.oneof(
      parts.map((list) => list.join(';')),
      parts.map((list) => ['FREQ=YEARLY;BYHOUR=1;BYMINUTE=2', ...list].join(';')),
      fc.string({ unit: 'binary' }),
    );
    const years = { start: new Date('2030-01-01T00:00:00Z'), end: new Date('2032-12-31T00:00:00Z') };
    fc.assert(
      fc.property(text, (rule) => {
        try {
          expect(found(rule, years).length).toBeLessThanOrEqual(1000);
        } catch (error) {
          const message = expect.stringMatching(/^Invalid RRule: .*: /s);
          expect(error).toMatchObject({ status: 400, message });
        }
      }),
      { numRuns: 5 },
    );
  });
});
