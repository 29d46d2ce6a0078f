import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, post } from '../support/app-uploads.ts';
import { eventFields, field, type Part } from '../support/form.ts';
import { newAgent, type SchedulingJson } from '../support/scheduling.ts';

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const SINGLE: SchedulingJson = { agent_id: 'room', start: START, end: END };
const RULE: SchedulingJson = {
  agent_id: 'room',
  start: '2030-01-07T00:00:00Z',
  end: '2030-01-31T00:00:00Z',
  duration: 3_600_000,
  rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0',
};

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

async function refused(parts: readonly Part[]): Promise<string> {
  const before = await counts(app);
  const answer = await post(app, parts);
  const text = await answer.text();
  expect(answer.status, text).toBe(400);
  expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(await counts(app)).toEqual(before);
  return text;
}

const refusedAs = (scheduling: SchedulingJson | string) =>
  refused([
    ...eventFields(),
    field('scheduling', typeof scheduling === 'string' ? scheduling : JSON.stringify(scheduling)),
  ]);

describe('scheduling that cannot be understood is refused, naming what is wrong', () => {
  const cases: [string, SchedulingJson | string, RegExp][] = [
    ['text that is no JSON', '{', /^Unable to parse scheduling information$/],
    ['a list', '[]', /^Unable to parse scheduling information$/],
    ['a number', '1', /^Unable to parse scheduling information$/],
    ['a day that does not exist', { ...SINGLE, start: '2030-02-30T09:00:00Z' }, /'start'/],
    ['an hour that does not exist', { ...SINGLE, end: '2030-01-07T25:00:00Z' }, /'end'/],
    ['a start that is a number', { ...SINGLE, start: 1_893_456_000_000 }, /'start'/],
    ['the year 0', { ...SINGLE, start: '0000-01-01T00:00:00Z' }, /'start'/],
    ['the year 9999', { ...SINGLE, end: '9999-12-31T23:59:59Z' }, /'end'/],
    ['a year of six digits', { ...SINGLE, start: '+275760-09-13T00:00:00Z' }, /'start'/],
    ['an empty start', { ...SINGLE, start: '' }, /'start' is ""/],
    ['an empty end', { ...SINGLE, end: '', duration: 3_600_000 }, /'end' is ""/],
    ['an empty end of a rule', { ...RULE, end: '' }, /'end' is ""/],
    ['an end before the start', { ...SINGLE, end: '2030-01-07T08:59:59Z' }, /'end'/],
    ['an end at the start', { ...SINGLE, end: START }, /'end'/],
    ['no duration at all', { ...SINGLE, end: undefined, duration: 0 }, /^Invalid format of field 'duration'/],
    [
      'a negative duration',
      { ...SINGLE, end: undefined, duration: -1 },
      /^Invalid format of field 'duration'/,
    ],
    [
      'half a millisecond',
      { ...SINGLE, end: undefined, duration: 0.5 },
      /^Invalid format of field 'duration'/,
    ],
    [
      'a duration in words',
      { ...SINGLE, end: undefined, duration: 'PT1H' },
      /^Invalid format of field 'duration'/,
    ],
    [
      'an endless duration',
      { ...SINGLE, end: undefined, duration: 1e300 },
      /^Invalid format of field 'duration'/,
    ],
    ['inputs that are no list', { ...SINGLE, inputs: 'camera' }, /'inputs'/],
    ['inputs that are no names', { ...SINGLE, inputs: [{}] }, /'inputs'/],
    ['10,000 inputs', { ...SINGLE, inputs: Array.from({ length: 10_000 }, (_, i) => `i${i}`) }, /'inputs'/],
    ['no agent', { ...SINGLE, agent_id: undefined }, /agent_id/],
    ['an agent without a name', { ...SINGLE, agent_id: '' }, /agent_id/],
    ['an agent that is a number', { ...SINGLE, agent_id: 7 }, /agent_id/],
    [
      'an agent with a slash',
      { ...SINGLE, agent_id: 'a/b' },
      /^Unable to parse device: .*'agent_id' is "a\/b"/,
    ],
    ['an agent of 10,000 characters', { ...SINGLE, agent_id: 'a'.repeat(10_000) }, /agent_id/],
    ['an agent of 10,000 slashes', { ...SINGLE, agent_id: '/'.repeat(10_000) }, /agent_id/],
    ['a NUL in the agent', { ...SINGLE, agent_id: 'a\0b' }, /agent_id/],
    ['half a character in the agent', { ...SINGLE, agent_id: '\ud800' }, /agent_id/],
    ['a NUL in the agent of a rule', { ...RULE, agent_id: 'a\0b' }, /agent_id/],
    ['a slash in the agent of a rule', { ...RULE, agent_id: 'a/b' }, /^Unable to parse device: /],
    ['an rrule that is none', { ...RULE, rrule: 'every Monday' }, /^Invalid RRule: /],
    ['an rrule that is a list', { ...RULE, rrule: ['FREQ=DAILY'] }, /^Invalid RRule: /],
    ['an unknown part of a rule', { ...RULE, rrule: `${RULE.rrule};BYMOON=1` }, /^Invalid RRule: .*BYMOON/],
    ['every second', { ...RULE, rrule: 'FREQ=SECONDLY' }, /^Invalid RRule: /],
    ['no hour', { ...RULE, rrule: 'FREQ=DAILY;BYMINUTE=0' }, /^Invalid RRule: .*BYHOUR/],
    [
      'a rule of kilobytes',
      { ...RULE, rrule: `${RULE.rrule};BYMONTHDAY=${'1,'.repeat(50_000)}1` },
      /^Invalid RRule: /,
    ],
    ['two centuries, daily', { ...RULE, start: '1970-01-01T00:00:00Z', end: '2199-12-31T00:00:00Z' }, /1000/],
    [
      'a rule that gives nothing',
      { ...RULE, end: '2030-01-07T08:00:00Z' },
      /^The date range provided did not include any events$/,
    ],
    ['levels without end', `{"agent_id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /.+/],
  ];
  test.each(cases)('%s', async (_, scheduling, sentence) => {
    const text = await refusedAs(scheduling);
    expect(text).toMatch(sentence);
    expect(text.length).toBeLessThan(1000);
  });
});

describe('of several faults the first in this order is told', () => {
  const BAD = { ...SINGLE, end: undefined };
  const part = (name: string, text: string): Part => field(name, text);
  const [acl, metadata, processing] = eventFields() as [Part, Part, Part];
  const withTitle = (values: Record<string, unknown>) => eventFields({ metadata: values })[1] ?? metadata;
  const scheduling = (json: SchedulingJson) => part('scheduling', JSON.stringify(json));

  test('what no part can be, before what scheduling says', async () => {
    expect(await refused([part('acl', '{'), scheduling(BAD)])).toBe('Unable to parse acl');
    expect(await refused([part('processing', '{'), scheduling(BAD)])).toBe(
      'Unable to parse processing configuration',
    );
    expect(await refused([withTitle({ startDate: 'soon' }), scheduling(BAD)])).toMatch(
      /^Unable to parse event metadata because: /,
    );
  });

  test('what scheduling says, rules included, before what is missing', async () => {
    expect(await refused([scheduling(BAD)])).toBe("Either 'end' or 'duration' must be specified");
    expect(await refused([scheduling({ ...RULE, rrule: 'FREQ=HOURLY' })])).toMatch(/^Invalid RRule: /);
  });

  test('what is missing, before agent and series', async () => {
    const slashed = scheduling({ ...SINGLE, agent_id: 'a/b' });
    expect(await refused([slashed])).toBe('No access control list available to create new event.');
    expect(await refused([acl, slashed])).toBe('No metadata list available to create new event.');
    expect(await refused([acl, metadata, slashed])).toBe(
      'No processing metadata available to create new event.',
    );
    expect(await refused([acl, metadata, part('processing', '{}'), slashed])).toBe(
      'No workflow template in metadata',
    );
    expect(await refused([acl, withTitle({ title: '' }), processing, slashed])).toMatch(
      /'title'.*can not be empty!\.$/,
    );
  });

  test('the series, before the agent, before conflicts', async () => {
    const agent = newAgent();
    const slot = { ...SINGLE, agent_id: agent };
    const elsewhere = withTitle({ isPartOf: 'nowhere' });
    expect(await refused([acl, elsewhere, processing, scheduling({ ...slot, agent_id: 'a/b' })])).toBe(
      'Unable to retrieve series dublincore catalog for the series nowhere',
    );
    expect((await post(app, [acl, metadata, processing, scheduling(slot)])).status).toBe(201);
    expect(await refused([acl, elsewhere, processing, scheduling(slot)])).toBe(
      'Unable to retrieve series dublincore catalog for the series nowhere',
    );
  });
});
