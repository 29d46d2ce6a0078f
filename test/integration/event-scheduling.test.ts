import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { newAgent, putScheduling, type SchedulingJson } from '../support/scheduling.ts';
import { send } from '../support/series.ts';

const bench = EventBench.forThisFile();

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const HOUR_MS = 3_600_000;

const scheduled = bench.scheduled.bind(bench);

const path = (id: string) => `/api/events/${id}/scheduling`;
const read = (id: string) => bench.read<SchedulingJson>(path(id));
const put = async (...args: Parameters<typeof putScheduling> extends [unknown, ...infer R] ? R : never) => {
  const answer = await putScheduling(bench.app, ...args);
  return { status: answer.status, text: await answer.text() };
};
const everything = async (id: string) => [await traceOf(bench.app, id), await read(id)];

describe('GET /api/events/{id}/scheduling', () => {
  test('200 with agent_id, start, end and inputs', async () => {
    const agent_id = newAgent();
    const inputs = ['camera', 'screen'];
    expect(await read(await scheduled({ agent_id, inputs }))).toEqual({
      agent_id,
      start: START,
      end: END,
      inputs,
    });
  });

  test('inputs are left out when there are none', async () => {
    expect(Object.keys(await read(await scheduled()))).toEqual(['agent_id', 'start', 'end']);
  });

  test('304 for whoever has it already, until it changes', async () => {
    const id = await scheduled();
    const tag = (await bench.app.request(path(id))).headers.get('ETag') ?? '';
    const again = () => bench.app.request(path(id), { headers: { 'If-None-Match': tag } });
    expect((await again()).status).toBe(304);
    await put(id, { duration: HOUR_MS / 2 });
    expect((await again()).status).toBe(200);
  });

  test('204 without a body for an event that is not scheduled', async () => {
    expect(await send(bench.app, 'GET', path(await bench.event()))).toMatchObject({ status: 204, text: '' });
  });

  test('404 for an event that is not there or must not be read', async () => {
    for (const id of [randomUUID(), await scheduled()]) {
      expect(await send(bench.app, 'GET', path(id), undefined, bench.stranger)).toMatchObject({
        status: 404,
        text: `Unable to find event with id '${id}'`,
      });
    }
  });
});

describe('PUT /api/events/{id}/scheduling', () => {
  test.each<[string, SchedulingJson, SchedulingJson]>([
    ['end', { end: '2030-01-07T11:30:00Z' }, { end: '2030-01-07T11:30:00Z' }],
    ['duration', { duration: 2 * HOUR_MS }, { end: '2030-01-07T11:00:00Z' }],
    ['duration as text', { duration: String(HOUR_MS / 2) }, { end: '2030-01-07T09:30:00Z' }],
    [
      'start and duration',
      { start: '2030-02-01T08:00:00Z', duration: HOUR_MS },
      { start: '2030-02-01T08:00:00Z', end: '2030-02-01T09:00:00Z' },
    ],
    [
      'an earlier start and the end',
      { start: '2030-01-07T08:00:00Z', end: END },
      { start: '2030-01-07T08:00:00Z' },
    ],
    ['agent_id and duration', { agent_id: 'hall 7', duration: HOUR_MS }, { agent_id: 'hall 7' }],
    ['inputs and end', { inputs: ['voice'], end: END }, { inputs: ['voice'] }],
  ])('204; of %s only that changes', async (_, change, expected) => {
    const id = await scheduled({ inputs: ['camera'] });
    const before = await read(id);
    expect(await put(id, change)).toEqual({ status: 204, text: '' });
    expect(await read(id)).toEqual({ ...before, ...expected });
    expect(await bench.version(id)).toBe(1);
  });

  test('no inputs take away those that were there', async () => {
    const id = await scheduled({ inputs: ['camera'] });
    expect((await put(id, { inputs: [], end: END })).status).toBe(204);
    expect(await read(id)).not.toHaveProperty('inputs');
  });

  test.each([
    ['whole seconds', START, END],
    ['milliseconds', '2030-01-07T09:00:00.250Z', '2030-01-07T10:00:00.750Z'],
  ])('204 for the object that a GET returned, which changes nothing: %s', async (_, start, end) => {
    const id = await scheduled({ start, end, inputs: ['camera', 'screen'] });
    const before = await everything(id);
    expect(await put(id, await read(id))).toEqual({ status: 204, text: '' });
    expect(await everything(id)).toEqual(before);
  });

  test('the start, the creation and the duration of the event follow', async () => {
    const id = await scheduled({}, { location: 'Lecture hall' });
    await put(id, { start: '2030-01-08T12:00:00Z', duration: 2 * HOUR_MS });
    expect(await bench.read(`/api/events/${id}`)).toMatchObject({
      start: '2030-01-08T12:00:00Z',
      created: '2030-01-08T12:00:00Z',
      duration: 2 * HOUR_MS,
      location: 'Lecture hall',
    });
  });

  test('a bibliographic start of its own stays when only the agent changes', async () => {
    const id = await scheduled({}, { start_date: new Date('2029-12-24T18:00:00Z'), duration: 1000 });
    await put(id, { agent_id: newAgent(), end: END });
    expect(await bench.read(`/api/events/${id}`)).toMatchObject({
      start: '2029-12-24T18:00:00Z',
      duration: 1000,
    });
  });

  test('another agent becomes the location of the event, and is known from then on', async () => {
    const id = await scheduled();
    const agent_id = newAgent();
    await put(id, { agent_id, end: END });
    expect(await bench.read(`/api/events/${id}`)).toMatchObject({ location: agent_id, start: START });
    expect(await bench.read(`/api/agents/${encodeURIComponent(agent_id)}`)).toMatchObject({
      status: 'unknown',
    });
  });

  test('an agent whose name holds a slash is taken when it is known, and refused when it is not', async () => {
    const agent_id = `house/${newAgent()}`;
    const id = await scheduled();
    const before = await everything(id);
    const refused = await put(id, { agent_id, end: END });
    expect(refused).toMatchObject({
      status: 400,
      text: expect.stringMatching(/^Unable to parse device: .*agent_id/),
    });
    expect(await everything(id)).toEqual(before);
    await bench.app.database.insertInto('capture_agents').values({ id: agent_id }).execute();
    expect((await put(id, { agent_id, end: END })).status).toBe(204);
    expect((await read(id)).agent_id).toBe(agent_id);
  });

  test.each<[string, SchedulingJson | string, string | RegExp]>([
    ['an empty text', '', 'Unparsable scheduling information'],
    ['text that is no JSON', '{"end":', 'Unparsable scheduling information'],
    ['a list', '[]', 'Unparsable scheduling information'],
    ['null', 'null', 'Unparsable scheduling information'],
    ['neither end nor duration', { start: START }, "Either 'end' or 'duration' must be specified"],
    ['both', { end: END, duration: HOUR_MS }, /end.*duration/],
    [
      'a day that does not exist',
      { end: '2030-02-30T10:00:00Z' },
      /^Unparsable date in scheduling information.*end/,
    ],
    [
      'a start that is no date',
      { start: 'soon', end: END },
      /^Unparsable date in scheduling information.*start/,
    ],
    ['an empty start', { start: '', duration: HOUR_MS }, /^Unparsable date .* 'start' is ""; allowed is /],
    ['an empty end', { end: '', duration: HOUR_MS }, /^Unparsable date .* 'end' is ""; allowed is /],
    ['an end before the start', { end: '2030-01-07T08:59:59Z' }, /end/],
    ['a start after the end', { start: '2030-01-07T10:00:00Z', end: END }, /end/],
    ['no duration at all', { duration: 0 }, /duration/],
    ['a negative duration', { duration: -1 }, /duration/],
    ['a duration that is no number', { duration: 'long' }, /^Invalid format of field 'duration'/],
    ['a duration beyond all bounds', { duration: 1e300 }, /duration/],
    ['the year 9999', { start: '9999-12-31T23:00:00Z', duration: HOUR_MS }, /start|end/],
    ['the year 0', { start: '0000-01-01T00:00:00Z', duration: HOUR_MS }, /start/],
    ['an agent of 10,000 characters', { agent_id: 'x'.repeat(10_000), end: END }, /agent_id/],
    ['an agent without a name', { agent_id: ' ', end: END }, /agent_id/],
    ['an agent with a NUL', { agent_id: 'a\0b', end: END }, /agent_id/],
    ['an agent that is a number', { agent_id: 7, end: END }, /agent_id/],
    ['inputs that are no list', { inputs: 'camera', end: END }, /inputs/],
    ['inputs with a NUL', { inputs: ['a\0b'], end: END }, /inputs/],
    ['10,000 inputs', { inputs: Array(10_000).fill('x'), end: END }, /inputs/],
    [
      'a rule',
      { rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0', start: START, end: END, duration: HOUR_MS },
      /rrule/,
    ],
  ])('400 for %s, and nothing changes', async (_, change, sentence) => {
    const id = await scheduled({ inputs: ['camera'] });
    const before = await everything(id);
    const { status, text } = await put(id, change);
    expect([status, text]).toEqual([
      400,
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    ]);
    expect(text.length).toBeLessThan(600);
    expect(await everything(id)).toEqual(before);
  });

  test("400 without the form field 'scheduling'", async () => {
    expect(await send(bench.app, 'PUT', path(await scheduled()), { other: '{}' })).toMatchObject({
      status: 400,
      text: "Missing form parameter 'scheduling'",
    });
  });

  test('404 for an event that is not there or must not be read, whatever is sent', async () => {
    for (const id of [randomUUID(), await scheduled()]) {
      expect(await put(id, '{', { headers: bench.stranger })).toEqual({
        status: 404,
        text: `Unable to find event with id '${id}'`,
      });
    }
  });

  test('404 for an event that was never scheduled, which stays so', async () => {
    const id = await bench.event();
    expect(await put(id, { agent_id: newAgent(), start: START, end: END })).toEqual({
      status: 404,
      text: 'The resource you requested does not exist.',
    });
    expect((await bench.app.request(path(id))).status).toBe(204);
  });

  test('401 for somebody who may only read', async () => {
    const id = await scheduled();
    const before = await everything(id);
    expect(await put(id, { duration: 1000 }, { headers: bench.reader })).toEqual({
      status: 401,
      text: 'unauthorized',
    });
    expect(await everything(id)).toEqual(before);
  });

  test('204 for somebody who may write', async () => {
    const id = await scheduled();
    expect((await put(id, { duration: 1000 }, { headers: bench.writer })).status).toBe(204);
    expect((await read(id)).end).toBe('2030-01-07T09:00:01Z');
  });

  test('the form may be multipart as well', async () => {
    const id = await scheduled();
    const body = new FormData();
    body.append('scheduling', JSON.stringify({ duration: 1000 }));
    expect((await bench.app.request(path(id), { method: 'PUT', body })).status).toBe(204);
    expect((await read(id)).end).toBe('2030-01-07T09:00:01Z');
  });
});
