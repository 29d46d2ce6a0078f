import fc from 'fast-check';
import rrule from 'rrule';
import { expect, test } from 'vitest';
import { HttpError } from '../../http/errors.ts';
import { occurrencesOf } from './occurrences.ts';
import { offsetAt } from './time-zone.ts';

const DAY = 86_400_000;
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
);
const hour = fc.integer({ min: 0, max: 23 });
const minute = fc.integer({ min: 0, max: 59 });
/** Up to two years, anywhere between 1970 and 2199. */
const period = fc
  .tuple(fc.integer({ min: 0, max: Date.UTC(2197, 0) }), fc.integer({ min: 0, max: 2 * 365 * DAY }))
  .map(([start, length]) => ({ start: new Date(start), end: new Date(start + length) }));

/** In milliseconds; none when the rule gives none. */
function starts(rule: string, { start, end }: { start: Date; end: Date }, timeZone = 'UTC'): number[] {
  try {
    return occurrencesOf({ rule, start, end, timeZone, maxOccurrences: 1000 }).map(Number);
  } catch (error) {
    if (error instanceof HttpError && error.message.startsWith('The date range')) return [];
    throw error;
  }
}

const interval = fc.integer({ min: 1, max: 9 });
const weekdays = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 4 });
const names = (days: number[]) => days.map((day) => WEEKDAYS[day]).join(',');

test('recordings follow each other within the period, at the same time by the clocks of the agent', () => {
  fc.assert(
    fc.property(zone, period, hour, minute, (timeZone, { start, end }, byHour, byMinute) => {
      const rule = `FREQ=DAILY;BYHOUR=${byHour};BYMINUTE=${byMinute}`;
      const found = starts(rule, { start, end }, timeZone);
      const first = Math.floor(start.getTime() / DAY) * DAY + (byHour * 60 + byMinute) * 60_000;
      const clock = (instant: number) => (((instant + offsetAt(instant, timeZone)) % DAY) + DAY) % DAY;
      // A time that clocks skip that day moves by as much as they do.
      const moved = (instant: number) => offsetAt(instant, timeZone) - offsetAt(instant - DAY, timeZone);
      const early = (instant: number) => (clock(first) + moved(instant)) % DAY;
      expect(found).toEqual([...new Set(found)].sort((one, other) => one - other));
      expect(found.filter((instant) => instant < start.getTime() || instant > end.getTime())).toEqual([]);
      expect(found.filter((instant) => ![clock(first), early(instant)].includes(clock(instant)))).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('a daily rule gives every so many-th day, if it has one of the weekdays', () => {
  fc.assert(
    fc.property(period, interval, weekdays, hour, ({ start, end }, every, allowed, byHour) => {
      const rule = `FREQ=DAILY;INTERVAL=${every};BYHOUR=${byHour};BYMINUTE=0`;
      const byDay = allowed.length > 0 ? `;BYDAY=${names(allowed)}` : '';
      const expected: number[] = [];
      const first = Math.floor(start.getTime() / DAY);
      for (let day = first; day * DAY <= end.getTime(); day += every) {
        const instant = day * DAY + byHour * 3_600_000;
        const fits = allowed.length === 0 || allowed.includes((day + 3) % 7);
        if (fits && instant >= start.getTime() && instant <= end.getTime()) expected.push(instant);
      }
      expect(starts(rule + byDay, { start, end })).toEqual(expected);
    }),
  );
});

test('a weekly rule gives the weekdays, or that of the start, of every so many-th week', () => {
  const weekStart = fc.integer({ min: 0, max: 6 });
  fc.assert(
    fc.property(period, interval, weekdays, weekStart, ({ start, end }, every, allowed, begin) => {
      const byDay = allowed.length > 0 ? `;BYDAY=${names(allowed)}` : '';
      const rule = `FREQ=WEEKLY;INTERVAL=${every};WKST=${WEEKDAYS[begin]};BYHOUR=12;BYMINUTE=0${byDay}`;
      const expected: number[] = [];
      const first = Math.floor(start.getTime() / DAY);
      const days = allowed.length > 0 ? allowed : [(first + 3) % 7];
      let week = 0;
      for (let day = first; day * DAY <= end.getTime(); day++) {
        if (day > first && (day + 3) % 7 === begin) week++;
        const instant = day * DAY + DAY / 2;
        const fits = week % every === 0 && days.includes((day + 3) % 7);
        if (fits && instant >= start.getTime() && instant <= end.getTime()) expected.push(instant);
      }
      expect(starts(rule, { start, end })).toEqual(expected);
    }),
  );
});

test('monthly and yearly rules give what the package finds for them', () => {
  const numbered = fc.tuple(fc.constantFrom(1, 2, 3, 4, -1, -2), fc.constantFrom(...WEEKDAYS));
  const monthDay = fc.constantFrom(1, 15, 28, -1, -20);
  const rule = fc.oneof(
    fc.tuple(interval, monthDay).map(([every, day]) => `FREQ=MONTHLY;INTERVAL=${every};BYMONTHDAY=${day}`),
    fc
      .tuple(interval, numbered)
      .map(([every, [nth, day]]) => `FREQ=MONTHLY;INTERVAL=${every};BYDAY=${nth}${day}`),
    fc
      .tuple(interval, numbered)
      .map(
        ([every, [nth, day]]) =>
          `FREQ=MONTHLY;INTERVAL=${every};BYDAY=${day},${day === 'MO' ? 'TU' : 'MO'};BYSETPOS=${nth}`,
      ),
    numbered.map(([nth, day]) => `FREQ=YEARLY;BYDAY=${nth}${day}`),
    fc
      .tuple(numbered, fc.integer({ min: 1, max: 12 }))
      .map(([[nth, day], month]) => `FREQ=YEARLY;BYMONTH=${month};BYDAY=${nth}${day}`),
    fc.integer({ min: 1, max: 365 }).map((day) => `FREQ=YEARLY;BYYEARDAY=${day}`),
  );
  fc.assert(
    fc.property(rule, period, (text, { start, end }) => {
      const midnight = new Date(Math.floor(start.getTime() / DAY) * DAY);
      const options = {
        ...rrule.RRule.parseString(text),
        dtstart: midnight,
        byhour: 9,
        byminute: 0,
        bysecond: 0,
      };
      const expected = new rrule.RRule(options, true).between(start, end, true).map(Number);
      expect(starts(`${text};BYHOUR=9;BYMINUTE=0`, { start, end })).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

test('any text is a rule or refused with a sentence', () => {
  const name = fc.constantFrom(
    'FREQ',
    'BYHOUR',
    'BYMINUTE',
    'BYDAY',
    'COUNT',
    'UNTIL',
    'BYSETPOS',
    'WKST',
    'X',
  );
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
  const decade = { start: new Date('2030-01-01T00:00:00Z'), end: new Date('2039-12-31T00:00:00Z') };
  fc.assert(
    fc.property(text, (rule) => {
      try {
        expect(starts(rule, decade).length).toBeLessThanOrEqual(1000);
      } catch (error) {
        expect(error).toMatchObject({ status: 400, message: expect.stringMatching(/^Invalid RRule: .*: /s) });
      }
    }),
    { numRuns: 500 },
  );
});
