import { expect, test } from 'vitest';
import { daysInYear, yearRule } from './days-in-year.ts';
import { readRule } from './rule.ts';
import { RuleText } from './rule-text.ts';

const DAY = 86_400_000;
const newYearOf = (year: number) => Date.UTC(year, 0) / DAY;

function days(year: number, rule: string): number[] {
  const newYear = newYearOf(year);
  return daysInYear(newYear, yearRule(readRule(new RuleText(`${rule};BYHOUR=9;BYMINUTE=0`)), newYear));
}

test('the search ends with the year', () => {
  expect(days(2030, 'FREQ=DAILY')).toEqual(Array.from({ length: 365 }, (_, day) => day));
  expect(days(2032, 'FREQ=DAILY')).toHaveLength(366);
});

test('a numbered weekday counts in the month or in the year, whatever stands beside it', () => {
  expect(days(2030, 'FREQ=YEARLY;BYDAY=1TU')).toEqual([0]);
  expect(days(2030, 'FREQ=MONTHLY;BYDAY=-1TU')).toHaveLength(12);
  // 2030 has 53 Tuesdays, and January five.
  expect(days(2030, 'FREQ=MONTHLY;BYDAY=TU,1WE')).toHaveLength(53 + 12);
  expect(days(2030, 'FREQ=YEARLY;BYDAY=TU,1WE')).toHaveLength(53 + 1);
});

test('the numbers of weeks are those of ISO 8601, also in the days around New Year', () => {
  const every = 'BYDAY=MO,TU,WE,TH,FR,SA,SU';
  const around = [0, 1, 2, 3, 4, 5, 6, 360, 361, 362, 363, 364];
  for (let year = 2000; year < 2400; year++) {
    const newYear = newYearOf(year);
    for (const number of [1, 52, 53]) {
      const found = days(year, `FREQ=YEARLY;BYWEEKNO=${number};${every}`);
      expect(found.filter((day) => around.includes(day))).toEqual(
        around.filter((day) => isoWeek(newYear + day) === number),
      );
    }
  }
});

test('weeks may begin on another day, and be counted from the end of the year', () => {
  const last = days(2030, 'FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO,TU,WE,TH,FR,SA,SU');
  // The week from 23 December; 30 December 2030 is a Monday in week 1 of 2031.
  expect(last).toEqual([356, 357, 358, 359, 360, 361, 362]);
  // The first week with four days in 2030 that begins on a Wednesday.
  expect(days(2030, 'FREQ=YEARLY;BYWEEKNO=1;BYDAY=TU,WE;WKST=WE')).toEqual([1, 7]);
});

function isoWeek(day: number): number {
  const thursday = day - ((day + 3) % 7) + 3;
  const year = new Date(thursday * DAY).getUTCFullYear();
  return Math.floor((thursday - newYearOf(year)) / 7) + 1;
}
