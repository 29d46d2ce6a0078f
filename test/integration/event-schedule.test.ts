import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { workerApp } from '../support/app.ts';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { type EventFields, eventFields, field, file, type Part } from '../support/form.ts';
import { readPage } from '../support/lists.ts';
import { newAgent, type SchedulingJson, schedule, scheduledFields } from '../support/scheduling.ts';
import { ace, catalogOf, catalogsOf, createSeries, send } from '../support/series.ts';

const bench = EventBench.forThisFile();

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:30:00Z';
const HOUR_MS = 3_600_000;
const DAILY = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0';

const slot = (agent_id = newAgent()) => ({ agent_id, start: START, end: END });
/** A rule for every day at nine, from the first of January 2030. */
const days = (count: number, agent_id = newAgent()) => ({
  agent_id,
  start: '2030-01-01T00:00:00Z',
  end: new Date(Date.UTC(2030, 0, count, 23)).toISOString(),
  duration: HOUR_MS,
  rrule: DAILY,
});
const hour = (day: string, from: number, agent_id: string) => ({
  agent_id,
  start: `${day}T${String(from).padStart(2, '0')}:30:00Z`,
  duration: HOUR_MS,
});
const scheduling = (json: SchedulingJson | string): Part =>
  field('scheduling', typeof json === 'string' ? json : JSON.stringify(json));
const withFields = (fields: EventFields, json: SchedulingJson) => [...eventFields(fields), scheduling(json)];
/** The parts of an event with two catalogs and an ACL. */
const rich = (episode: Record<string, unknown>, license: Record<string, unknown>, json: SchedulingJson) => [
  field('acl', JSON.stringify([ace('ROLE_A'), ace('ROLE_B', 'write')])),
  field('metadata', catalogsOf({ 'dublincore/episode': episode, 'license/episode': license })),
  field('processing', '{"workflow":"schedule-and-upload","configuration":{"a":"b"}}'),
  scheduling(json),
];

const create = async (parts: readonly Part[], headers?: Record<string, string>) => {
  const answer = await post(bench.app, parts, headers);
  return { status: answer.status, text: await answer.text() };
};
const one = async (parts: readonly Part[]) => created(await post(bench.app, parts));
/** The events of a rule, in order. */
async function several(parts: readonly Part[]): Promise<string[]> {
  const { status, text } = await create(parts);
  expect(status, text).toBe(200);
  const entries = JSON.parse(text) as { identifier: string }[];
  for (const entry of entries) expect(Object.keys(entry)).toEqual(['identifier']);
  return entries.map(({ identifier }) => identifier);
}
/** Sends what must be refused and leave nothing. */
async function refused(parts: readonly Part[], expected = 400, headers?: Record<string, string>) {
  const before = await counts(bench.app);
  const { status, text } = await create(parts, headers);
  expect(status, text).toBe(expected);
  expect(await counts(bench.app)).toEqual(before);
  return text;
}

const event = (id: string) => bench.read(`/api/events/${id}`);
const read = (id: string) => bench.read<SchedulingJson>(`/api/events/${id}/scheduling`);
const agentPath = (agent: string) => `/api/agents/${encodeURIComponent(agent)}`;
const stored = (event_id: string) =>
  bench.app.database.selectFrom('schedules').selectAll().where('event_id', '=', event_id).executeTakeFirstOrThrow();

describe('scheduling information (2.7)', () => {
  test('start and end make one event', async () => {
    const scheduled = { ...slot(), inputs: ['camera', 'screen'] };
    expect(await read(await schedule(bench.app, scheduled))).toEqual(scheduled);
  });

  test('a rule makes events within the period, at the times of the rule, of the given duration', async () => {
    const agent_id = newAgent();
    const rule = {
      agent_id,
      start: '2030-01-07T00:00:00Z',
      end: '2030-01-18T23:59:59Z',
      duration: HOUR_MS,
      rrule: 'FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=30;COUNT=100',
    };
    expect(await Promise.all((await several(scheduledFields(rule))).map(read))).toEqual(
      ['2030-01-07', '2030-01-10', '2030-01-14', '2030-01-17'].map((day) => ({
        agent_id,
        start: `${day}T09:30:00Z`,
        end: `${day}T10:30:00Z`,
      })),
    );
  });
});

describe('conflict entries (2.11)', () => {
  test('have start, end and title of every event in the way, and milliseconds where the event has them', async () => {
    const agent = newAgent();
    const exact = { agent_id: agent, start: '2030-02-01T10:30:00.250Z', end: '2030-02-01T11:30:00.500Z' };
    await schedule(bench.app, hour('2030-02-01', 9, agent), 'First');
    expect(await read(await schedule(bench.app, exact, 'Second'))).toEqual(exact);
    await schedule(bench.app, hour('2030-02-01', 13, agent), 'Third');
    const answer = await post(
      bench.app,
      scheduledFields({ agent_id: agent, start: '2030-02-01T10:00:00Z', duration: 2 * HOUR_MS }),
    );
    expect(answer.status).toBe(409);
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/v[\d.]+\+json$/);
    expect(await answer.json()).toEqual([
      { start: '2030-02-01T09:30:00Z', end: '2030-02-01T10:30:00Z', title: 'First' },
      { start: exact.start, end: exact.end, title: 'Second' },
    ]);
  });
});

describe('a scheduled event', () => {
  test('is answered with 201, Location and its identifier', async () => {
    const answer = await post(bench.app, scheduledFields(slot()));
    const body = (await answer.json()) as { identifier: string };
    expect([answer.status, Object.keys(body)]).toEqual([201, ['identifier']]);
    expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${body.identifier}`);
  });

  test('is where and when it is recorded, whatever its metadata say', async () => {
    const metadata = {
      location: 'Elsewhere',
      startDate: '2019-01-01',
      startTime: '01:00:00Z',
      created: '2018-01-01T00:00:00Z',
      duration: '00:00:05',
    };
    const scheduled = slot();
    expect(await event(await one(withFields({ metadata }, scheduled)))).toMatchObject({
      title: 'Lecture',
      location: scheduled.agent_id,
      start: START,
      created: START,
      duration: 5_400_000,
      processing_state: '',
      status: 'EVENTS.EVENTS.STATUS.SCHEDULED',
      creator: 'Administrator',
    });
  });

  test('starts no workflow; which one is to run is kept with the schedule', async () => {
    const configuration = { flagForReview: 'true' };
    const id = await one(withFields({ workflow: 'my own', configuration }, slot()));
    expect(await bench.workflows(id)).toEqual([]);
    expect(await stored(id)).toMatchObject({
      workflow: 'my own',
      configuration,
      recording_state: '',
      gap_ms: 0,
      allow_conflict: false,
    });
  });

  test('has the ACL, the further catalogs, the series and the presenters that were sent', async () => {
    const is_part_of = await createSeries(bench.app, { title: 'Logic' });
    const episode = { title: 'Lecture', isPartOf: is_part_of, creator: ['Ada', 'Grace'] };
    const id = await one(rich(episode, { licensor: 'Ada', permits: ['copy'] }, slot()));
    expect(await event(id)).toMatchObject({ is_part_of, series: 'Logic', presenter: ['Ada', 'Grace'] });
    expect(await bench.acl(id)).toEqual([ace('ROLE_A'), ace('ROLE_B', 'write')]);
    expect(await bench.values(id, 'license/episode')).toEqual({ licensor: 'Ada', permits: ['copy'] });
  });

  test('makes its agent known', async () => {
    const { agent_id, ...times } = slot();
    await schedule(bench.app, { agent_id, ...times });
    expect(await bench.read(agentPath(agent_id))).toMatchObject({ agent_id, status: 'unknown', inputs: [] });
  });

  test('is recorded by an agent with a slash in its name only when that has reported itself', async () => {
    const agent = `${newAgent()}/east`;
    expect(await refused(scheduledFields(slot(agent)))).toContain(
      `Unable to parse device: the value of 'agent_id' is "${agent}"`,
    );
    await send(bench.app, 'POST', `/capture-admin/agents/${encodeURIComponent(agent)}`, { state: 'idle' });
    expect((await event(await schedule(bench.app, slot(agent)))).location).toBe(agent);
  });

  test('keeps a gap to others where one is configured', async () => {
    const careful = await workerApp({ SCHEDULE_MIN_GAP_SECONDS: '600' });
    const scheduled = slot();
    await schedule(careful, scheduled);
    const from = async (start: string) =>
      (await post(careful, scheduledFields({ ...scheduled, start, end: '2030-01-07T12:00:00Z' }))).status;
    expect(await from('2030-01-07T10:39:59Z')).toBe(409);
    expect(await from('2030-01-07T10:40:00Z')).toBe(201);
  });

  test('is none in version 1.0.0, which ignores scheduling', async () => {
    const inVersion = (version: string) => ({ Accept: `application/v${version}+json` });
    const unreadable = [...eventFields(), scheduling('{')];
    for (const parts of [scheduledFields(slot()), unreadable]) {
      const id = await created(await post(bench.app, parts, inVersion('1.0.0')));
      expect(await event(id)).toMatchObject({ location: '', processing_state: 'INSTANTIATED' });
    }
    await refused(unreadable, 400, inVersion('1.1.0'));
  });
});

describe('an identifier that is taken', () => {
  const taken = (id: string) => `An event with the identifier '${id}' already exists.`;

  test('is refused in a sentence, not as a conflict of times', async () => {
    const identifier = `taken-${randomUUID()}`;
    const agent = newAgent();
    const fields = { metadata: { identifier } };
    expect(await one(withFields(fields, slot(agent)))).toBe(identifier);
    for (const parts of [withFields(fields, slot(agent)), withFields(fields, slot()), eventFields(fields)]) {
      expect(await refused(parts, 409)).toBe(taken(identifier));
    }
  });

  test('goes to one of many concurrent requests, whatever their agents', async () => {
    const identifier = `race-${randomUUID()}`;
    const fields = { metadata: { identifier } };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => create(i % 3 ? withFields(fields, slot()) : eventFields(fields))),
    );
    const winner = answers.findIndex(({ status }) => status === 201);
    expect(answers.toSpliced(winner, 1)).toEqual(Array(11).fill({ status: 409, text: taken(identifier) }));
  });
});

describe('a recording that is sent along', () => {
  const clip = file('presenter', 'a.mp4', bytes(5000));

  test('is attached, and its workflow starts immediately', async () => {
    const before = await counts(bench.app);
    const configuration = { flagForReview: 'true' };
    const id = await one([...eventFields({ configuration }), clip, scheduling(slot())]);
    expect(await bench.tracks(id)).toMatchObject([{ flavor: 'presenter/source', filename: 'a.mp4', size: 5000 }]);
    expect(await bench.workflows(id)).toMatchObject([{ definition: 'schedule-and-upload', configuration }]);
    expect((await stored(id)).recording_state).toBe('upload_finished');
    expect(await event(id)).toMatchObject({ start: START, status: 'EVENTS.EVENTS.STATUS.PENDING' });
    expect((await counts(bench.app)).staged).toBe(before.staged);
  });

  test('is refused with a rule: nothing says which event it belongs to', async () => {
    expect(await refused([...scheduledFields(days(3)), clip])).toBe(
      "Recordings cannot be sent with an 'rrule', because it creates several events. Send each recording to its event.",
    );
  });
});

describe('the events of a rule', () => {
  test('are numbered in chronological order, as wide as the last number', async () => {
    const events = await Promise.all((await several(scheduledFields(days(12), 'Logic'))).map(event));
    expect(events.map(({ title, start }) => [title, start])).toEqual(
      Array.from({ length: 12 }, (_, i) => {
        const number = String(i + 1).padStart(2, '0');
        return [`Logic ${number}`, `2030-01-${number}T09:00:00Z`];
      }),
    );
  });

  test('need one digit when there are nine; without a title the number is all', async () => {
    const [acl, , processing] = eventFields() as [Part, Part, Part];
    const untitled = field('metadata', catalogOf({ description: 'No title' }, 'dublincore/episode'));
    const ids = await several([acl, untitled, processing, scheduling(days(9))]);
    const titles = (await Promise.all(ids.map(event))).map(({ title }) => title);
    expect(titles).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  test('have titles with room for a number, which can be written back', async () => {
    expect(await refused(scheduledFields(days(12), 'é'.repeat(999)))).toBe(
      "'title' has 1998 bytes of UTF-8. With an 'rrule' at most 1997 are allowed, because a number is appended.",
    );
    const [id = ''] = await several(scheduledFields(days(12), 'x'.repeat(1997)));
    const title = (await event(id)).title as string;
    expect(title).toMatch(/^x{1997} 01$/);
    expect((await bench.putMetadata(id, [{ id: 'title', value: title }])).status).toBe(204);
  });

  test('are answered with 201 when there is one, which is numbered under an identifier of its own', async () => {
    const identifier = `single-${randomUUID()}`;
    const answer = await post(bench.app, withFields({ title: 'Logic', metadata: { identifier } }, days(1)));
    const location = answer.headers.get('Location');
    const id = await created(answer);
    expect(location).toBe(`http://inlet.test/api/events/${id}`);
    expect(id).not.toBe(identifier);
    expect(await event(id)).toMatchObject({ title: 'Logic 1', start: '2030-01-01T09:00:00Z' });
  });

  test('have none of them an identifier that the client chose', async () => {
    const identifier = `several-${randomUUID()}`;
    const parts = () => withFields({ metadata: { identifier } }, days(2));
    const ids = [...(await several(parts())), ...(await several(parts()))];
    expect(new Set([...ids, identifier]).size).toBe(5);
  });

  test('have the ACL, the catalogs, the series, the times and the schedule each to itself', async () => {
    const agent = newAgent();
    const series = await createSeries(bench.app, { title: 'Logic' }, [ace('ROLE_SERIES')]);
    const episode = { title: 'Logic', isPartOf: series, subjects: ['Maths'] };
    const rule = { ...days(3, agent), inputs: ['camera'] };
    const ids = await several(rich(episode, { licensor: 'Ada' }, rule));
    for (const [i, id] of ids.entries()) {
      const start = `2030-01-0${i + 1}T09:00:00Z`;
      expect(await event(id)).toMatchObject({
        ...{ location: agent, start, created: start, duration: HOUR_MS, series: 'Logic' },
        ...{ subjects: ['Maths'], processing_state: '', status: 'EVENTS.EVENTS.STATUS.SCHEDULED' },
      });
      expect(await bench.acl(id)).toEqual([ace('ROLE_A'), ace('ROLE_B', 'write')]);
      expect(await bench.values(id, 'license/episode')).toMatchObject({ licensor: 'Ada' });
      const processing = { workflow: 'schedule-and-upload', configuration: { a: 'b' } };
      expect(await stored(id)).toMatchObject({ agent_id: agent, inputs: ['camera'], ...processing });
      expect(await bench.workflows(id)).toEqual([]);
    }
  });

  test('are found by their catalogs, and by accounts that the ACL lets read them', async () => {
    const licensor = `licensor${randomUUID().slice(0, 8)}`;
    const ids = await several(rich({ title: 'Logic' }, { licensor }, days(3)));
    const found = async (role: string) => {
      const Authorization = await bench.app.account(`reader-${randomUUID()}`, 'ROLE_API_EVENTS_VIEW', role);
      const page = await readPage(bench.app, `/api/events?filter=textFilter:${licensor}`, { Authorization });
      return page.ids.sort();
    };
    expect(await found('ROLE_A')).toEqual([...ids].sort());
    expect(await found('ROLE_B')).toEqual([]);
  });

  test('follow the clocks of the agent', async () => {
    const agent = newAgent();
    await send(bench.app, 'POST', `/capture-admin/agents/${encodeURIComponent(agent)}/configuration`, {
      configuration: JSON.stringify({ 'capture.device.timezone': 'Europe/Berlin' }),
    });
    const period = { start: '2030-03-30T00:00:00Z', end: '2030-04-01T00:00:00Z' };
    const ids = await several(scheduledFields({ ...days(1, agent), ...period }));
    const starts = (await Promise.all(ids.map(event))).map(({ start }) => start);
    expect(starts).toEqual(['2030-03-30T09:00:00Z', '2030-03-31T08:00:00Z']);
  });

  test('are refused together when one is in the way, with every event that is, its title only for readers', async () => {
    const agent = newAgent();
    const acl = [{ role: 'ROLE_OTHER', action: 'read' }];
    await one(withFields({ title: 'Second', acl }, hour('2030-01-02', 9, agent)));
    await schedule(bench.app, hour('2030-01-04', 8, agent), 'Fourth');
    expect(JSON.parse(await refused(scheduledFields(days(5, agent)), 409))).toEqual([
      { start: '2030-01-02T09:30:00Z', end: '2030-01-02T10:30:00Z', title: 'Second' },
      { start: '2030-01-04T08:30:00Z', end: '2030-01-04T09:30:00Z', title: 'Fourth' },
    ]);
    const Authorization = await bench.app.account(`author-${randomUUID()}`, 'ROLE_API_EVENTS_CREATE');
    const seen = await refused(scheduledFields(days(4, agent)), 409, { Authorization });
    expect(JSON.parse(seen)).toMatchObject([{ title: '' }, { title: 'Fourth' }]);
  });

  test('are refused with 400 when they overlap one another, and leave nothing, not even their agent', async () => {
    const agent = newAgent();
    const overlapping = { ...days(2, agent), duration: 25 * HOUR_MS };
    expect(await refused(scheduledFields(overlapping, 'Long'))).toBe('RRULE periods overlap');
    expect((await bench.app.request(agentPath(agent))).status).toBe(404);
    expect(await several(scheduledFields({ ...overlapping, duration: 24 * HOUR_MS }))).toHaveLength(2);
  });

  test('may not multiply ACLs and metadata without limit', async () => {
    const acl = Array.from({ length: 101 }, (_, i) => ({ role: `ROLE_${i}`, action: 'read' }));
    expect(await refused(withFields({ acl }, days(1000)))).toBe(
      "The part 'acl' has 101 entries for each of 1000 events; the maximum for all events together is 100000 entries.",
    );
    const description = 'x'.repeat(2000);
    expect(await refused(withFields({ metadata: { description } }, days(1000)))).toMatch(
      /^The part 'metadata' has \d+ characters for each of 1000 events/,
    );
  });
});

describe('an Idempotency-Key', () => {
  test('brings the same events again for the same request', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const rule = days(4);
    const first = await create(scheduledFields(rule), headers);
    expect(first.status).toBe(200);
    const before = await counts(bench.app);
    expect(await create(scheduledFields(rule), headers)).toEqual(first);
    await refused(scheduledFields({ ...rule, agent_id: newAgent() }), 422, headers);
    expect(await counts(bench.app)).toEqual(before);
  });

  test('does not keep a conflict: the same request may succeed once the time is free', async () => {
    const scheduled = slot();
    const id = await schedule(bench.app, scheduled, 'First');
    const headers = { 'Idempotency-Key': randomUUID() };
    const parts = scheduledFields(scheduled, 'Second');
    expect(JSON.parse(await refused(parts, 409, headers))).toMatchObject([{ title: 'First' }]);
    expect((await send(bench.app, 'DELETE', `/api/events/${id}`)).status).toBe(204);
    expect((await create(parts, headers)).status).toBe(201);
  });
});

// The unit tests of the parsers have every fault; here is one of each kind, and those that need the database.
describe('scheduling that cannot be understood is refused, naming the fault', () => {
  const RULE = days(24);
  test.each<[string, SchedulingJson | string, string | RegExp]>([
    ['text that is no JSON', '{', /^Unable to parse scheduling information$/],
    ['a day that does not exist', { ...slot(), start: '2030-02-30T09:00:00Z' }, /'start'/],
    ['an end before the start', { ...slot(), end: '2030-01-07T08:59:59Z' }, /'end'/],
    ['a duration in words', { ...slot(), end: undefined, duration: 'PT1H' }, /field 'duration'/],
    ['10,000 inputs', { ...slot(), inputs: Array(10_000).fill('i') }, /'inputs'/],
    ['an agent of 10,000 slashes', slot('/'.repeat(10_000)), /agent_id/],
    ['a slash in the agent of a rule', { ...RULE, agent_id: 'a/b' }, /^Unable to parse device: /],
    ['an unknown part of a rule', { ...RULE, rrule: `${DAILY};BYMOON=1` }, /^Invalid RRule: .*BYMOON/],
    ['a thousand and one events', days(1001), /1000/],
  ])('%s', async (_, json, sentence) => {
    const text = await refused([...eventFields(), scheduling(json)]);
    expect(text).toMatch(sentence);
    expect(text.length).toBeLessThan(1000);
  });
});

describe('of several faults the first in this order is named', () => {
  const BAD = { ...slot(), end: undefined };
  const SLASHED = scheduling(slot('a/b'));
  const [acl, metadata, processing] = eventFields() as [Part, Part, Part];
  const withValues = (values: Record<string, unknown>) => eventFields({ metadata: values })[1] ?? metadata;
  const elsewhere = withValues({ isPartOf: 'nowhere' });
  const NO_SERIES = 'Unable to retrieve series dublincore catalog for the series nowhere';

  const noPart = (kind: string) => `No ${kind} available to create new event.`;
  const scheduled = scheduling(BAD);

  test.each<[string, Part[], string | RegExp]>([
    ['ACL, scheduling', [field('acl', '{'), scheduled], 'Unable to parse acl'],
    ['processing, scheduling', [field('processing', '{'), scheduled], 'Unable to parse processing configuration'],
    ['metadata, scheduling', [withValues({ startDate: 'soon' }), scheduled], /^Unable to parse event metadata /],
    ['scheduling, no ACL', [scheduled], "Either 'end' or 'duration' must be specified"],
    ['a rule, no ACL', [scheduling({ ...days(2), rrule: 'FREQ=HOURLY' })], /^Invalid RRule: /],
    ['no ACL, agent', [SLASHED], noPart('access control list')],
    ['no metadata, agent', [acl, SLASHED], noPart('metadata list')],
    ['no processing, agent', [acl, metadata, SLASHED], noPart('processing metadata')],
    ['no workflow, agent', [acl, metadata, field('processing', '{}'), SLASHED], 'No workflow template in metadata'],
    ['no title, agent', [acl, withValues({ title: '' }), processing, SLASHED], /'title'.*can not be empty!\.$/],
    ['series, agent', [acl, elsewhere, processing, SLASHED], NO_SERIES],
  ])('%s', async (_, parts, sentence) => {
    const text = await refused(parts);
    if (typeof sentence === 'string') expect(text).toBe(sentence);
    else expect(text).toMatch(sentence);
  });

  test('series, conflicts', async () => {
    const taken = slot();
    await schedule(bench.app, taken);
    expect(await refused([acl, elsewhere, processing, scheduling(taken)])).toBe(NO_SERIES);
  });
});
