import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { workerApp } from '../support/app.ts';
import { BENCH_ACL, EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { field } from '../support/form.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { newAgent, putScheduling, type SchedulingJson, schedule, update } from '../support/scheduling.ts';
import { ace, send } from '../support/series.ts';

const bench = EventBench.forThisFile();

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const HOUR_MS = 3_600_000;
const STATUS = 'EVENTS.EVENTS.STATUS.';

const scheduled = bench.scheduled.bind(bench);
const at = (hour: number) => `2030-01-07T${String(hour).padStart(2, '0')}:00:00Z`;
/** An event that is to be recorded for an hour. */
const lecture = (agent_id: string, hour: number, title = 'Lecture', acl = BENCH_ACL) =>
  scheduled({ agent_id, start: at(hour), end: at(hour + 1) }, { title }, acl);

const path = (id: string) => `/api/events/${id}/scheduling`;
const event = (id: string) => bench.read(`/api/events/${id}`);
const read = (id: string) => bench.read<SchedulingJson>(path(id));
const put = async (...[id, json, options]: [string, SchedulingJson | string, ...PutOptions]) => {
  const answer = await putScheduling(bench.app, id, json, options);
  return { status: answer.status, text: await answer.text() };
};
type PutOptions = [Parameters<typeof putScheduling>[3]?];
const DONE = { status: 204, text: '' };
const move = (id: string, hour: number, ...options: PutOptions) =>
  put(id, { start: at(hour), duration: HOUR_MS }, ...options);
const everything = async (id: string) => [await traceOf(bench.app, id), await read(id)];
/** Runs work that must leave an event as it is. */
async function unchanged(id: string, work: () => Promise<void>): Promise<void> {
  const before = await everything(id);
  await work();
  expect(await everything(id)).toEqual(before);
}

describe('GET /api/events/{id}/scheduling', () => {
  test('200 with agent_id, start, end and inputs', async () => {
    const values = { agent_id: newAgent(), inputs: ['camera', 'screen'] };
    expect(await read(await scheduled(values))).toEqual({ ...values, start: START, end: END });
    expect(Object.keys(await read(await scheduled()))).toEqual(['agent_id', 'start', 'end']);
  });

  test('304 for a client that has it already, until it changes', async () => {
    const id = await scheduled();
    const tag = (await bench.app.request(path(id))).headers.get('ETag') ?? '';
    const again = async () => (await bench.app.request(path(id), { headers: { 'If-None-Match': tag } })).status;
    expect(await again()).toBe(304);
    await put(id, { duration: HOUR_MS / 2 });
    expect(await again()).toBe(200);
  });

  test('204 without a body for an event that is not scheduled', async () => {
    expect(await send(bench.app, 'GET', path(await bench.event()))).toMatchObject(DONE);
  });

  test('404 for an event that is not there or must not be read', async () => {
    for (const id of [randomUUID(), await scheduled()]) {
      const text = `Unable to find event with id '${id}'`;
      const answer = await send(bench.app, 'GET', path(id), undefined, bench.stranger);
      expect(answer).toMatchObject({ status: 404, text });
    }
  });
});

describe('PUT /api/events/{id}/scheduling', () => {
  test.each<[string, SchedulingJson, SchedulingJson]>([
    ['end', { end: '2030-01-07T11:30:00Z' }, { end: '2030-01-07T11:30:00Z' }],
    ['duration', { duration: 2 * HOUR_MS }, { end: '2030-01-07T11:00:00Z' }],
    ['start and duration', { start: at(8), duration: 2 * HOUR_MS }, { start: at(8) }],
    ['agent_id and duration', { agent_id: 'hall 7', duration: HOUR_MS }, { agent_id: 'hall 7' }],
    ['inputs and end', { inputs: ['voice'], end: END }, { inputs: ['voice'] }],
    ['inputs, which are taken away', { inputs: [], end: END }, { inputs: undefined }],
  ])('204; of %s only that changes', async (_, change, expected) => {
    const id = await scheduled({ inputs: ['camera'] });
    const before = await read(id);
    expect(await put(id, change)).toEqual(DONE);
    expect(await read(id)).toEqual({ ...before, ...expected });
    expect(await bench.version(id)).toBe(1);
  });

  test.each([
    ['whole seconds', START, END],
    ['milliseconds', '2030-01-07T09:00:00.250Z', '2030-01-07T10:00:00.750Z'],
  ])('204 for the object that a GET returned, which changes nothing: %s', async (_, start, end) => {
    const id = await scheduled({ start, end, inputs: ['camera', 'screen'] });
    await unchanged(id, async () => expect(await put(id, await read(id))).toEqual(DONE));
  });

  test('the start, the creation and the duration of the event follow', async () => {
    const id = await scheduled({}, { location: 'Lecture hall' });
    await put(id, { start: '2030-01-08T12:00:00Z', duration: 2 * HOUR_MS });
    const start = '2030-01-08T12:00:00Z';
    const shown = { start, created: start, duration: 2 * HOUR_MS, location: 'Lecture hall' };
    expect(await event(id)).toMatchObject(shown);
  });

  test('a bibliographic start of its own stays when only the agent changes', async () => {
    const id = await scheduled({}, { start_date: new Date('2029-12-24T18:00:00Z'), duration: 1000 });
    await put(id, { agent_id: newAgent(), end: END });
    expect(await event(id)).toMatchObject({ start: '2029-12-24T18:00:00Z', duration: 1000 });
  });

  test('another agent becomes the location of the event, and is known from then on', async () => {
    const id = await scheduled();
    const agent_id = newAgent();
    await put(id, { agent_id, end: END });
    expect(await event(id)).toMatchObject({ location: agent_id, start: START });
    const known = await bench.read(`/api/agents/${encodeURIComponent(agent_id)}`);
    expect(known).toMatchObject({ status: 'unknown' });
  });

  // The unit tests of the parser have every fault; here is one of each kind.
  test.each<[string, SchedulingJson | string, string | RegExp]>([
    ['text that is no JSON', '{"end":', /^Unparsable scheduling information$/],
    ['neither end nor duration', { start: START }, /^Either 'end' or 'duration' must be specified$/],
    ['an empty end', { end: '', duration: HOUR_MS }, /^Unparsable date .* 'end' is ""; it must be /],
    ['an end before the start', { end: '2030-01-07T08:59:59Z' }, /end/],
    ['a start after the end', { start: '2030-01-07T10:00:00Z', end: END }, /end/],
    ['a duration that is no number', { duration: 'long' }, /^Invalid format of field 'duration'/],
    ['an agent of 10,000 characters', { agent_id: 'x'.repeat(10_000), end: END }, /agent_id/],
    ['an agent nobody knows, with a slash', { agent_id: 'a/b', end: END }, /^Unable to parse device: .*agent_id/],
    ['10,000 inputs', { inputs: Array(10_000).fill('x'), end: END }, /inputs/],
    ['a rule', { rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0', duration: HOUR_MS }, /rrule/],
  ])('400 for %s, and nothing changes', async (_, change, sentence) => {
    const id = await scheduled({ inputs: ['camera'] });
    await unchanged(id, async () => {
      const { status, text } = await put(id, change);
      expect([status, text]).toEqual([400, expect.stringMatching(sentence)]);
      expect(text.length).toBeLessThan(600);
    });
  });

  test('404 for an event that is not there or must not be read, whatever is sent', async () => {
    for (const id of [randomUUID(), await scheduled()]) {
      const text = `Unable to find event with id '${id}'`;
      expect(await put(id, '{', { headers: bench.stranger })).toEqual({ status: 404, text });
    }
  });

  test('404 for an event that was never scheduled, which stays so', async () => {
    const id = await bench.event();
    const text = 'The resource you requested does not exist.';
    expect(await put(id, { agent_id: newAgent(), start: START, end: END })).toEqual({ status: 404, text });
    expect((await bench.app.request(path(id))).status).toBe(204);
  });

  test('401 for an account that may only read, 204 for one that may write', async () => {
    const id = await scheduled();
    const refused = { status: 401, text: 'unauthorized' };
    await unchanged(id, async () =>
      expect(await put(id, { duration: 1000 }, { headers: bench.reader })).toEqual(refused),
    );
    expect(await put(id, { duration: 1000 }, { headers: bench.writer })).toEqual(DONE);
    expect((await read(id)).end).toBe('2030-01-07T09:00:01Z');
  });
});

describe('a recording that has begun', () => {
  const BEGUN = { status: 400, text: "Scheduling can't be changed for events whose recording has begun." };

  test.each(['capturing', 'capture_finished', 'uploading', 'upload_finished', 'manifest'])(
    'is not moved: 400 when it is %s; 204 for what changes nothing',
    async (recording_state) => {
      const id = await scheduled({ recording_state });
      await unchanged(id, async () => {
        expect(await put(id, { duration: 1000 })).toEqual(BEGUN);
        expect(await put(id, { inputs: ['x'], end: END })).toEqual(BEGUN);
        expect(await put(id, await read(id))).toEqual(DONE);
      });
    },
  );

  test.each(['INSTANTIATED', 'RUNNING', 'SUCCEEDED', 'FAILED'])(
    'is not moved when its workflow is %s',
    async (processing_state) => {
      expect(await put(await scheduled({}, { processing_state }), { duration: 1000 })).toEqual(BEGUN);
    },
  );

  test.each(['capture_error', 'manifest_error', 'upload_error'])(
    'is moved all the same when it ended in %s, and is awaited again',
    async (recording_state) => {
      const id = await scheduled({ recording_state });
      expect(await event(id)).toMatchObject({ status: `${STATUS}RECORDING_FAILURE` });
      expect(await put(id, { start: '2030-03-01T08:00:00Z', duration: HOUR_MS })).toEqual(DONE);
      expect(await event(id)).toMatchObject({ status: `${STATUS}SCHEDULED` });
    },
  );
});

describe('PUT /api/events/{id}/scheduling into the time of others', () => {
  test('409 with start, end and title of every event in the way, and nothing changes', async () => {
    const agent = newAgent();
    const id = await lecture(agent, 8);
    await lecture(agent, 10, 'Algebra');
    await lecture(agent, 11, 'Secret', [ace('ROLE_OTHER')]);
    await lecture(agent, 14, 'Far away');
    await unchanged(id, async () => {
      const answer = await putScheduling(bench.app, id, { start: at(9), end: at(12) });
      expect(answer.status).toBe(409);
      expect(answer.headers.get('Content-Type')).toBe('application/v1.11.0+json');
      expect(await answer.json()).toEqual([
        { start: at(10), end: at(11), title: 'Algebra' },
        { start: at(11), end: at(12), title: 'Secret' },
      ]);
    });
  });

  test('the titles of events that the caller may not read stay hidden', async () => {
    const agent = newAgent();
    const id = await lecture(agent, 8);
    await lecture(agent, 9, 'Secret', [ace('ROLE_OTHER')]);
    const { status, text } = await move(id, 9, { headers: bench.writer });
    expect([status, JSON.parse(text)]).toEqual([409, [{ start: at(9), end: at(10), title: '' }]]);
  });

  test('recordings keep a gap where one is configured', async () => {
    const careful = await workerApp({ SCHEDULE_MIN_GAP_SECONDS: '600' });
    const [agent_id, duration] = [newAgent(), HOUR_MS];
    await schedule(careful, { agent_id, start: at(10), duration });
    const id = await schedule(careful, { agent_id, start: at(6), duration });
    const until = async (end: string) => (await putScheduling(careful, id, { end })).status;
    expect(await until('2030-01-07T09:50:01Z')).toBe(409);
    expect(await until('2030-01-07T09:50:00Z')).toBe(204);
  });

  test('of ten events that are moved to the same time concurrently, one arrives', async () => {
    const agent_id = newAgent();
    const ten = Array.from({ length: 10 }, (_, i) => lecture(newAgent(), 8, `Lecture ${i}`));
    const ids = await Promise.all(ten);
    const answers = await Promise.all(ids.map((id) => put(id, { agent_id, start: at(9), end: at(10) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 204);
    const [loser] = answers.filter(({ status }) => status === 409);
    const conflict = { start: at(9), end: at(10), title: `Lecture ${winner}` };
    expect(JSON.parse(loser?.text ?? '')).toEqual([conflict]);
    const agents = await Promise.all(ids.map(async (id) => (await read(id)).agent_id));
    expect(agents.flatMap((each, i) => (each === agent_id ? [i] : []))).toEqual([winner]);
  });
});

describe('allowConflict', () => {
  /** Two events of one agent, of which the first is to be moved into the time of the second. */
  async function neighbours(): Promise<[string, string]> {
    const agent = newAgent();
    return [await lecture(agent, 8, 'One'), await lecture(agent, 10, 'Two')];
  }

  test('lets an administrator schedule what conflicts, and nobody else', async () => {
    const [one, two] = await neighbours();
    expect((await move(one, 10, { allowConflict: 'false' })).status).toBe(409);
    expect((await move(one, 10, { allowConflict: 'true', headers: bench.writer })).status).toBe(409);
    expect(await move(one, 10, { allowConflict: 'true' })).toEqual(DONE);
    expect(await read(one)).toEqual(await read(two));
  });

  test('came with version 1.2.0', async () => {
    const [one] = await neighbours();
    for (const [version, status] of [
      ['1.1.0', 409],
      ['1.2.0', 204],
    ] as const) {
      const headers = { Accept: `application/v${version}+json` };
      expect((await move(one, 10, { allowConflict: 'true', headers })).status).toBe(status);
    }
  });
});

test.each<[string, (id: string) => Promise<Response>]>([
  ['deletes an event', async (id) => bench.app.request(`/api/events/${id}`, { method: 'DELETE' })],
  ['moves a schedule', (id) => putScheduling(bench.app, id, { start: at(12), end: at(13) })],
  [
    'moves a schedule with other changes',
    (id) =>
      update(bench.app, id, [
        field('processing', '{"workflow":"republish-metadata"}'),
        field('scheduling', JSON.stringify({ start: at(12), end: at(13) })),
      ]),
  ],
])('a request that %s waits for the agent with the event locked and the schedule free', async (_, request) => {
  const agentId = newAgent();
  const id = await scheduled({ agent_id: agentId });
  const { database } = bench.app;
  let answer: Promise<Response> | undefined;
  await database.transaction().execute(async (trx) => {
    await sql`SELECT FROM capture_agents WHERE id = ${agentId} FOR NO KEY UPDATE`.execute(trx);
    answer = request(id);
    await untilOneWaits(database);
    // The transaction that holds the agent may have to write any of its schedules.
    await sql`SELECT FROM schedules WHERE event_id = ${id} FOR UPDATE NOWAIT`.execute(trx);
    const free = sql`SELECT FROM events WHERE id = ${id} FOR UPDATE SKIP LOCKED`.execute(trx);
    expect((await free).rows).toEqual([]);
  });
  expect((await answer)?.status).toBe(204);
});
