import { describe, expect, test } from 'vitest';
import { sentenceOf } from '#test/support/refusal.ts';
import { UNPARSABLE_SCHEDULING_UPDATE } from '../states/scheduling-errors.ts';
import { parseNewScheduling, parseSchedulingChange, periodOf } from './parse-scheduling.ts';

const NEW = { agent_id: 'room 1', start: '2030-01-31T09:00:00Z' };
const HOUR = 3_600_000;
const START = new Date('2030-01-31T09:00:00Z');
const END = new Date('2030-01-31T10:00:00Z');

const parse = (sent: unknown) => parseNewScheduling(JSON.stringify(sent));
const change = (sent: unknown) => parseSchedulingChange(JSON.stringify(sent), UNPARSABLE_SCHEDULING_UPDATE);

describe('a new recording', () => {
  const expected = {
    ...{ agentId: 'room 1', inputs: [], start: START, end: END, durationMs: HOUR, rrule: undefined },
  };
  test.each([
    ['an end', { ...NEW, end: '2030-01-31T10:00:00Z' }],
    ['a duration', { ...NEW, duration: HOUR }],
    ['a duration that is text', { ...NEW, duration: ' 3600000 ' }],
    ['an end in another zone', { ...NEW, end: '2030-01-31T12:00:00.000+02:00' }],
    ['nothing in the optional fields', { ...NEW, end: '2030-01-31T10:00:00Z', duration: '', rrule: '', inputs: null }],
    ['fields that nobody knows', { ...NEW, duration: HOUR, title: ['x'], 'a\0': '\ud800' }],
  ])('has %s', (_, sent) => expect(parse(sent)).toEqual(expected));

  test('keeps milliseconds', () => {
    const read = parse({ ...NEW, start: '2030-01-31T09:00:00.250Z', end: '2030-01-31T09:00:01Z' });
    expect(read).toMatchObject({ start: new Date('2030-01-31T09:00:00.250Z'), durationMs: 750 });
  });

  test('has up to a hundred inputs', () => {
    const inputs = Array.from({ length: 100 }, (_, index) => `input ${index}`);
    expect(parse({ ...NEW, duration: HOUR, inputs }).inputs).toEqual(inputs);
  });

  test('may recur within a period, each time for the duration', () => {
    const rrule = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0';
    const end = '2031-01-31T10:00:00Z';
    const read = parse({ ...NEW, end, duration: HOUR, rrule });
    expect(read).toEqual({ ...expected, end: new Date(end), rrule });
  });
});

describe('a text that is no JSON object is refused', () => {
  const deep = '['.repeat(5000) + ']'.repeat(5000);
  test.each(['', 'x', '[]', 'null', '"a"', '7', deep, '{"agent_id":"a\0"}'])('%.20s', (text) => {
    expect(sentenceOf(() => parseNewScheduling(text))).toBe('Unable to parse scheduling information');
    expect(sentenceOf(() => parseSchedulingChange(text, UNPARSABLE_SCHEDULING_UPDATE))).toBe(
      'Unparsable scheduling information',
    );
  });
});

describe('a start or end that is no moment from 1970 to 2199 is refused by its name', () => {
  const impossible = ['2030-02-30T09:00:00Z', '2030-01-31T25:00:00Z'];
  const malformed = ['', ' ', '2030-01-31', '2030-01-31 09:00:00', '2030-01-31T09:00:00Z\0', '\ud800'];
  const early = ['0000-01-01T00:00:00Z', '1969-12-31T23:59:59Z'];
  const late = ['2200-01-01T00:00:00Z', '+012030-01-31T09:00:00Z'];
  const others = ['T'.repeat(10_000), 1_895_000_000, true, ['2030-01-31T09:00:00Z'], {}];
  test.each([...impossible, ...malformed, ...early, ...late, ...others])('%j', (value) => {
    const shown = typeof value === 'object' ? 'a list or an object' : JSON.stringify(value).slice(0, 100);
    const sentence = (field: string) =>
      `Unparsable date in scheduling information: the value of '${field}' is ${shown}`;
    const start = sentenceOf(() => parse({ ...NEW, start: value, duration: HOUR }));
    expect(start.startsWith(sentence('start')), start).toBe(true);
    expect(start).toMatch(/; it must be a UTC datetime such as 2030-01-31T09:00:00Z, from 1970 to 2199$/);
    const end = sentenceOf(() => change({ end: value }));
    expect(end.startsWith(sentence('end')), end).toBe(true);
    expect(sentenceOf(() => parse({ ...NEW, end: value, duration: HOUR }))).toBe(end);
    expect(sentenceOf(() => change({ start: value, duration: HOUR }))).toBe(start);
  });
});

describe('a duration that is no whole number of milliseconds up to 30 days is refused', () => {
  test.each([0, -1, 1.5, 30 * 24 * HOUR + 1, '0', '-5', '1h', '1e3', '9'.repeat(10_000), false, [1]])(
    '%.20j',
    (duration) => {
      const sentence = /^Invalid format of field 'duration': .*; it must be .* from 1 to 2592000000$/;
      expect(sentenceOf(() => parse({ ...NEW, duration }))).toMatch(sentence);
      expect(sentenceOf(() => change({ duration }))).toMatch(sentence);
    },
  );
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  test.each([
    ['1e999', "field 'duration'"],
    [deep, "field 'duration': the value is a list or an object"],
  ])('%.20s', (duration, sentence) => {
    expect(sentenceOf(() => parseNewScheduling(`{"duration":${duration}}`))).toContain(sentence);
  });
});

test('neither or both of end and duration are refused', () => {
  const either = "Either 'end' or 'duration' must be specified";
  const both = { end: '2030-01-31T10:00:00Z', duration: HOUR };
  expect(sentenceOf(() => parse(NEW))).toBe(either);
  expect(sentenceOf(() => parse({ ...NEW, end: null, duration: '' }))).toBe(either);
  expect(sentenceOf(() => parse({ ...NEW, ...both }))).toBe(`${either}, not both`);
  expect(sentenceOf(() => change({ agent_id: 'a' }))).toBe(either);
  expect(sentenceOf(() => change(both))).toBe(`${either}, not both`);
});

test('a missing start is refused', () => {
  expect(sentenceOf(() => parse({ agent_id: 'a', duration: HOUR }))).toMatch(/^'start' must be specified as/);
});

test('a rule without all of start, end and duration is refused', () => {
  const whole = { ...NEW, end: '2030-12-31T00:00:00Z', duration: HOUR, rrule: 'FREQ=DAILY' };
  for (const missing of ['start', 'end', 'duration']) {
    expect(sentenceOf(() => parse({ ...whole, [missing]: undefined }))).toBe(
      "'start', 'end' and 'duration' must be specified when 'rrule' is specified",
    );
  }
  expect(sentenceOf(() => parse({ ...whole, rrule: ['FREQ=DAILY'] }))).toMatch(/^Invalid RRule: .*'rrule'/);
});

test('an end that is not after the start is refused', () => {
  for (const end of ['2030-01-31T09:00:00Z', '2029-01-31T09:00:00Z']) {
    const both = /^The value of 'end' is .*; it must be after 'start', which is 2030-01-31T09:00:00.000Z$/;
    expect(sentenceOf(() => parse({ ...NEW, end }))).toMatch(both);
    expect(sentenceOf(() => parse({ ...NEW, end, duration: HOUR, rrule: 'FREQ=DAILY' }))).toMatch(both);
    expect(sentenceOf(() => periodOf({ end: new Date(end) }, { start: START, end: END }))).toMatch(both);
  }
});

test('a recording of more than 30 days is refused, but not a rule for longer', () => {
  const [most, more] = ['2030-03-02T09:00:00Z', '2030-03-02T09:00:00.001Z'];
  const sentence = /^The recording takes 2592000001 milliseconds; the maximum is 2592000000/;
  expect(parse({ ...NEW, end: most }).durationMs).toBe(30 * 24 * HOUR);
  expect(sentenceOf(() => parse({ ...NEW, end: more }))).toMatch(sentence);
  expect(sentenceOf(() => periodOf({ end: new Date(more) }, { start: START, end: END }))).toMatch(sentence);
  expect(parse({ ...NEW, end: more, duration: HOUR, rrule: 'FREQ=DAILY' }).end).toEqual(new Date(more));
});

describe('an agent without a name that can be one is refused', () => {
  test.each([undefined, null, '', ' ', 'a\0', 'a\nb', '\ud800', 'x'.repeat(256), 7, ['a'], {}])('%.20j', (agent) => {
    const sentence = /^Unable to parse device: the value of 'agent_id' is .*; it must have 1 to 255 characters/;
    expect(sentenceOf(() => parse({ ...NEW, duration: HOUR, agent_id: agent }))).toMatch(sentence);
  });
  test('but only after all else, and a change may name none either', () => {
    expect(sentenceOf(() => parse({ start: NEW.start }))).toBe("Either 'end' or 'duration' must be specified");
    expect(sentenceOf(() => change({ duration: HOUR, agent_id: 'a\0' }))).toMatch(/^Unable to parse device: /);
  });
});

describe('inputs that are no list of names are refused', () => {
  const lists = [[''], [1], [['a']], ['a\0'], ['\ud800'], ['x'.repeat(256)], Array(101).fill('a')];
  test.each(['camera', 'a,b', {}, 1, ...lists])('%.20j', (inputs) => {
    const sentence = /^Unable to parse the field 'inputs'; it must be a list of at most 100 names/;
    expect(sentenceOf(() => parse({ ...NEW, duration: HOUR, inputs }))).toMatch(sentence);
    expect(sentenceOf(() => change({ duration: HOUR, inputs }))).toMatch(sentence);
  });
});

test('a change holds what was sent and nothing else', () => {
  expect(change({ duration: '60000' })).toEqual({ durationMs: 60_000 });
  expect(change({ end: '2030-01-31T10:00:00Z', agent_id: '', start: null })).toEqual({ end: END });
  expect(change({ agent_id: 'b', start: NEW.start, end: '2030-01-31T10:00:00Z', inputs: [], other: 1 })).toEqual({
    agentId: 'b',
    start: START,
    end: END,
    inputs: [],
  });
});

test('a rule is for new events only', () => {
  expect(sentenceOf(() => change({ duration: HOUR, rrule: 'FREQ=DAILY' }))).toBe(
    "'rrule' is allowed for new events only",
  );
  expect(change({ duration: HOUR, rrule: '' })).toEqual({ durationMs: HOUR });
});

test('a duration counts from the new start or, without one, from the current start', () => {
  const current = { start: START, end: END };
  const [later, half, eleven] = ['09:30', '10:30', '11:00'].map((time) => new Date(`2030-01-31T${time}:00Z`));
  expect(periodOf({ durationMs: 2 * HOUR }, current)).toEqual({ start: START, end: eleven });
  expect(periodOf({ start: later, durationMs: HOUR }, current)).toEqual({ start: later, end: half });
  expect(periodOf({ start: later, end: END }, current)).toEqual({ start: later, end: END });
});
