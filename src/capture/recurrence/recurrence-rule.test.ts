import { describe, expect, test } from 'vitest';
import { sentenceOf } from '#test/support/refusal.ts';
import { RuleText, readRule } from './recurrence-rule.ts';

const read = (text: string) => readRule(new RuleText(text));

const refusalOf = (text: string) => sentenceOf(() => read(text));

test('all parts of a rule are read, in any case of letters and behind the name of the property', () => {
  const rule = read(
    'rrule:freq=monthly;interval=2;byday=mo,-1FR;bymonth=1,12;bymonthday=+1,-31;byyearday=-366;byweekno=53;' +
      'bysetpos=-1;byhour=23;byminute=59;bysecond=30;wkst=su;count=5',
  );
  expect(rule).toEqual({
    frequency: 'MONTHLY',
    interval: 2,
    weekdays: [
      { weekday: 0, nth: undefined },
      { weekday: 4, nth: -1 },
    ],
    months: [1, 12],
    monthDays: [1, -31],
    yearDays: [-366],
    weekNumbers: [53],
    positions: [-1],
    time: ((23 * 60 + 59) * 60 + 30) * 1000,
    weekStart: 6,
    count: 5,
    until: undefined,
  });
});

test('a rule may end with the sign that stands between its parts', () => {
  const rule = 'FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=09;BYMINUTE=15';
  expect(read(`${rule};`)).toEqual(read(rule));
  expect(read(`RRULE:${rule}; `)).toEqual(read(rule));
});

test.each([
  ['20300131T090000Z', '2030-01-31T09:00:00.000Z'],
  ['20300131T090000', '2030-01-31T09:00:00.000Z'],
  ['20300131', '2030-01-31T23:59:59.999Z'],
])('UNTIL is read as UTC: %s', (written, last) => {
  const { until } = read(`FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=${written}`);
  expect(until && new Date(until).toISOString()).toBe(last);
});

describe('a refusal names the part and what is allowed', () => {
  const TIME = 'BYHOUR=9;BYMINUTE=0';
  test.each([
    [`FREQ=SECONDLY;${TIME}`, "FREQ is 'SECONDLY'; allowed is DAILY, WEEKLY, MONTHLY or YEARLY"],
    [`FREQ=MINUTELY;${TIME}`, "FREQ is 'MINUTELY'; allowed is DAILY"],
    [`FREQ=HOURLY;${TIME}`, "FREQ is 'HOURLY'; allowed is DAILY"],
    [TIME, 'FREQ is missing; allowed is DAILY'],
    ['FREQ=DAILY;BYMINUTE=0', 'BYHOUR is missing; allowed is one whole number from 0 to 23, in UTC'],
    ['FREQ=DAILY;BYHOUR=9', 'BYMINUTE is missing; allowed is one whole number from 0 to 59'],
    ['FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0', "BYHOUR is '9,10'; allowed is one whole number from 0 to 23"],
    ['FREQ=DAILY;BYHOUR=24;BYMINUTE=0', "BYHOUR is '24'; allowed is one whole number from 0 to 23"],
    ['FREQ=DAILY;BYHOUR=+9;BYMINUTE=0', "BYHOUR is '+9'"],
    ['FREQ=DAILY;BYHOUR=9;BYMINUTE=60', "BYMINUTE is '60'"],
    [`FREQ=DAILY;${TIME};BYSECOND=60`, "BYSECOND is '60'"],
    [`FREQ=DAILY;${TIME};INTERVAL=0`, "INTERVAL is '0'; allowed is one whole number from 1 to 1000"],
    [`FREQ=DAILY;${TIME};INTERVAL=1000000`, "INTERVAL is '1000000'"],
    [`FREQ=DAILY;${TIME};INTERVAL=1.5`, "INTERVAL is '1.5'"],
    [`FREQ=WEEKLY;${TIME};BYDAY=MO,XX`, "BYDAY is 'MO,XX'; allowed is weekdays such as MO"],
    [`FREQ=MONTHLY;${TIME};BYDAY=54MO`, "BYDAY is '54MO'"],
    [`FREQ=MONTHLY;${TIME};BYDAY=0MO`, "BYDAY is '0MO'"],
    [
      `FREQ=WEEKLY;${TIME};BYDAY=2MO`,
      "BYDAY is '2MO'; allowed is weekdays without numbers, such as MO, with FREQ=WEEKLY",
    ],
    [`FREQ=YEARLY;${TIME};BYMONTH=13`, "BYMONTH is '13'; allowed is whole numbers from 1 to 12"],
    [`FREQ=YEARLY;${TIME};BYMONTH=-1`, "BYMONTH is '-1'"],
    [`FREQ=MONTHLY;${TIME};BYMONTHDAY=32`, 'from 1 to 31 or from -31 to -1, separated by commas'],
    [`FREQ=MONTHLY;${TIME};BYMONTHDAY=1,,2`, "BYMONTHDAY is '1,,2'"],
    [`FREQ=YEARLY;${TIME};BYYEARDAY=367`, "BYYEARDAY is '367'"],
    [`FREQ=YEARLY;${TIME};BYWEEKNO=54`, "BYWEEKNO is '54'"],
    [`FREQ=YEARLY;${TIME};BYSETPOS=0`, "BYSETPOS is '0'"],
    [`FREQ=WEEKLY;${TIME};WKST=X`, "WKST is 'X'; allowed is MO, TU, WE, TH, FR, SA or SU"],
    [`FREQ=DAILY;${TIME};COUNT=0`, "COUNT is '0'"],
    [`FREQ=DAILY;${TIME};COUNT=2;UNTIL=20300131`, 'COUNT and UNTIL must not be combined'],
    [`FREQ=DAILY;${TIME};UNTIL=20300230`, "UNTIL is '20300230'; allowed is a UTC datetime such as"],
    [`FREQ=DAILY;${TIME};UNTIL=20300131T240000Z`, "UNTIL is '20300131T240000Z'"],
    [`FREQ=DAILY;${TIME};UNTIL=2030-01-31`, "UNTIL is '2030-01-31'"],
    [`FREQ=DAILY;${TIME};BYEASTER=1`, 'BYEASTER is not a known part; allowed are FREQ, INTERVAL'],
    [`FREQ=DAILY;${TIME};TZID=UTC`, 'TZID is not a known part'],
    [`FREQ=DAILY;${TIME};DTSTART=20300131`, 'DTSTART is not a known part'],
    [`FREQ=DAILY;${TIME};FREQ=WEEKLY`, 'FREQ must not occur twice'],
    [`FREQ=DAILY;${TIME};;`, "an rrule must consist of parts NAME=VALUE, separated by ';'"],
    [`FREQ=DAILY;;${TIME}`, 'an rrule must consist of parts'],
    ['', 'an rrule must consist of parts'],
    [';', 'an rrule must consist of parts'],
    ['RRULE:;', 'an rrule must consist of parts'],
    [`FREQ=DAILY;${TIME};BYDAY=`, 'an rrule must consist of parts'],
    ['every monday', 'an rrule must consist of parts'],
    [`FREQ=DAILY;${TIME}\nDTSTART:20300131`, 'an rrule must be one line of ASCII characters'],
    [`FREQ=DAILY;${TIME};COUNT=١`, 'an rrule must be one line of ASCII characters'],
  ])('%s', (text, reason) => expect(refusalOf(text)).toContain(reason));
});

test('a refusal begins with the rule, but shows no more than 200 of its characters and nothing unprintable', () => {
  expect(refusalOf('FREQ=\0\ud800\n')).toBe('Invalid RRule: FREQ=: an rrule must be one line of ASCII characters');
  expect(refusalOf('x'.repeat(50_000))).toBe(
    `Invalid RRule: ${'x'.repeat(200)}: an rrule must have at most 1000 characters`,
  );
});
