import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, post } from '../support/app-uploads.ts';
import { field } from '../support/form.ts';
import {
  type ConflictJson,
  newAgent,
  putScheduling,
  type SchedulingJson,
  schedule,
  scheduledFields,
  update,
} from '../support/scheduling.ts';

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const HOUR_MS = 3_600_000;
const COURSE = {
  start: '2030-01-07T00:00:00Z',
  end: '2030-01-18T23:59:59Z',
  duration: HOUR_MS,
  rrule: 'FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=30',
};

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const read = async (id: string) => (await app.request(`/api/events/${id}/scheduling`)).json();
const event = async (id: string) =>
  (await (await app.request(`/api/events/${id}`)).json()) as Record<string, unknown>;
const refusal = async (scheduling: SchedulingJson) => {
  const before = await counts(app);
  const answer = await post(app, scheduledFields(scheduling));
  expect(await counts(app)).toEqual(before);
  return { status: answer.status, text: await answer.text() };
};

describe('scheduling information (2.7)', () => {
  test('agent_id is needed', async () => {
    expect(await refusal({ start: START, end: END })).toMatchObject({
      status: 400,
      text: expect.stringContaining('agent_id'),
    });
  });

  test('start is needed', async () => {
    expect(await refusal({ agent_id: newAgent(), end: END })).toMatchObject({
      status: 400,
      text: expect.stringContaining('start'),
    });
  });

  test('start and end make one event', async () => {
    const agent = newAgent();
    const id = await schedule(app, { agent_id: agent, start: START, end: END });
    expect(await read(id)).toEqual({ agent_id: agent, start: START, end: END });
  });

  test('start and duration, in milliseconds, make one event', async () => {
    const agent = newAgent();
    const id = await schedule(app, { agent_id: agent, start: START, duration: HOUR_MS });
    expect(await read(id)).toEqual({ agent_id: agent, start: START, end: END });
  });

  test('both end and duration are invalid without a rule', async () => {
    const { status, text } = await refusal({ agent_id: newAgent(), start: START, end: END, duration: 1000 });
    expect(status).toBe(400);
    expect(text).toMatch(/'end'.*'duration'/);
  });

  test('neither end nor duration is invalid', async () => {
    expect(await refusal({ agent_id: newAgent(), start: START })).toEqual({
      status: 400,
      text: "Either 'end' or 'duration' must be specified",
    });
  });

  test.each(['start', 'end', 'duration'])('a rule without %s is invalid', async (missing) => {
    const scheduling: SchedulingJson = { agent_id: newAgent(), ...COURSE };
    delete scheduling[missing];
    expect(await refusal(scheduling)).toEqual({
      status: 400,
      text: "'start', 'end' and 'duration' must be specified when 'rrule' is specified",
    });
  });

  test('a rule makes events within the period, at the times of the rule, of the given duration', async () => {
    const agent = newAgent();
    const answer = await post(app, scheduledFields({ agent_id: agent, ...COURSE }));
    expect(answer.status).toBe(200);
    const ids = ((await answer.json()) as { identifier: string }[]).map(({ identifier }) => identifier);
    const starts = ['2030-01-07', '2030-01-10', '2030-01-14', '2030-01-17'];
    expect(await Promise.all(ids.map(read))).toEqual(
      starts.map((day) => ({ agent_id: agent, start: `${day}T09:30:00Z`, end: `${day}T10:30:00Z` })),
    );
  });

  test.each(['COUNT=100', 'UNTIL=20310101T000000Z'])('a rule with %s ends with the period', async (part) => {
    const rrule = `${COURSE.rrule};${part}`;
    const answer = await post(app, scheduledFields({ agent_id: newAgent(), ...COURSE, rrule }));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toHaveLength(4);
  });

  test('start and end are UTC; offsets and milliseconds are understood', async () => {
    const agent = newAgent();
    const scheduling = {
      agent_id: agent,
      start: '2030-01-07T10:00:00.000+01:00',
      end: '2030-01-07T10:00:00.000Z',
    };
    expect(await read(await schedule(app, scheduling))).toEqual({ agent_id: agent, start: START, end: END });
  });

  test('inputs are kept', async () => {
    const inputs = ['camera', 'screen'];
    const id = await schedule(app, { agent_id: newAgent(), start: START, end: END, inputs });
    expect(await read(id)).toMatchObject({ inputs });
  });
});

describe('conflict entries (2.11)', () => {
  test('have start, end and title of every event in the way', async () => {
    const agent = newAgent();
    await schedule(app, { agent_id: agent, start: '2030-02-01T09:00:00Z', duration: HOUR_MS }, 'First');
    await schedule(app, { agent_id: agent, start: '2030-02-01T10:00:00Z', duration: HOUR_MS }, 'Second');
    await schedule(app, { agent_id: agent, start: '2030-02-01T12:00:00Z', duration: HOUR_MS }, 'Third');
    const answer = await post(
      app,
      scheduledFields({ agent_id: agent, start: '2030-02-01T09:30:00Z', duration: 2 * HOUR_MS }),
    );
    expect(answer.status).toBe(409);
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/v[\d.]+\+json$/);
    expect((await answer.json()) as ConflictJson[]).toEqual([
      { start: '2030-02-01T09:00:00Z', end: '2030-02-01T10:00:00Z', title: 'First' },
      { start: '2030-02-01T10:00:00Z', end: '2030-02-01T11:00:00Z', title: 'Second' },
    ]);
  });
});

test('conflict entries have milliseconds, as the scheduling of the event has, when it does not start at a whole second', async () => {
  const scheduling = {
    agent_id: newAgent(),
    start: '2030-01-07T09:00:00.250Z',
    end: '2030-01-07T10:00:00.500Z',
  };
  const id = await schedule(app, scheduling);
  expect(await read(id)).toEqual(scheduling);
  const answer = await post(app, scheduledFields(scheduling));
  expect(await answer.json()).toEqual([{ start: scheduling.start, end: scheduling.end, title: 'Lecture' }]);
});

describe('POST /api/events with scheduling (4.1)', () => {
  test('one event: 201, Location and its identifier', async () => {
    const answer = await post(app, scheduledFields({ agent_id: newAgent(), start: START, end: END }));
    const body = (await answer.json()) as { identifier: string };
    expect(answer.status).toBe(201);
    expect(Object.keys(body)).toEqual(['identifier']);
    expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${body.identifier}`);
  });

  test('several events: 200 and an array of identifiers', async () => {
    const answer = await post(app, scheduledFields({ agent_id: newAgent(), ...COURSE }));
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Record<string, string>[];
    expect(body).toHaveLength(4);
    for (const entry of body) expect(Object.keys(entry)).toEqual(['identifier']);
  });

  test('a rule that makes one event: 201', async () => {
    const scheduling = { agent_id: newAgent(), ...COURSE, end: '2030-01-08T00:00:00Z' };
    expect((await post(app, scheduledFields(scheduling))).status).toBe(201);
  });

  test('invalid or inconsistent: 400', async () => {
    expect((await refusal({ agent_id: newAgent(), start: END, end: START })).status).toBe(400);
  });

  test('a conflict: 409, and nothing is created', async () => {
    const agent = newAgent();
    await schedule(app, { agent_id: agent, start: '2030-01-14T09:00:00Z', duration: HOUR_MS });
    expect((await refusal({ agent_id: agent, ...COURSE })).status).toBe(409);
  });
});

describe('POST /api/events/{id} with scheduling (4.1)', () => {
  const moved = (scheduling: SchedulingJson) => [field('scheduling', JSON.stringify(scheduling))];

  test('moves the recording: 204', async () => {
    const agent = newAgent();
    const id = await schedule(app, { agent_id: agent, start: START, end: END });
    const answer = await update(app, id, moved({ start: '2030-01-08T09:00:00Z', duration: HOUR_MS }));
    expect(answer.status).toBe(204);
    expect(await read(id)).toEqual({
      agent_id: agent,
      start: '2030-01-08T09:00:00Z',
      end: '2030-01-08T10:00:00Z',
    });
  });

  test('a conflict: 409 with the events in the way, and nothing is changed', async () => {
    const agent = newAgent();
    const id = await schedule(app, { agent_id: agent, start: START, end: END });
    await schedule(app, { agent_id: agent, start: END, duration: HOUR_MS }, 'Next');
    const title = field(
      'metadata',
      '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"New"}]}]',
    );
    const answer = await update(app, id, [title, ...moved({ end: '2030-01-07T10:30:00Z' })]);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual([{ start: END, end: '2030-01-07T11:00:00Z', title: 'Next' }]);
    expect(await read(id)).toEqual({ agent_id: agent, start: START, end: END });
    expect((await event(id)).title).toBe('Lecture');
  });

  test('an event that does not exist: 404', async () => {
    expect((await update(app, 'nowhere', moved({ end: END }))).status).toBe(404);
  });
});

describe('GET /api/events/{id}/scheduling (4.5)', () => {
  test('200 with agent_id, start, end and inputs', async () => {
    const scheduling = { agent_id: newAgent(), start: START, end: END, inputs: ['camera'] };
    const answer = await app.request(`/api/events/${await schedule(app, scheduling)}/scheduling`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(scheduling);
  });

  test('204 when the event is not scheduled', async () => {
    const answer = await post(app, scheduledFields({}).slice(0, 3));
    const { identifier } = (await answer.json()) as { identifier: string };
    expect((await app.request(`/api/events/${identifier}/scheduling`)).status).toBe(204);
  });

  test('404 when there is no such event', async () => {
    const answer = await app.request('/api/events/nowhere/scheduling');
    expect([answer.status, await answer.text()]).toEqual([404, "Unable to find event with id 'nowhere'"]);
  });

  test('is not there before 1.1.0', async () => {
    const id = await schedule(app, { agent_id: newAgent(), start: START, end: END });
    const headers = { Accept: 'application/v1.0.0+json' };
    expect((await app.request(`/api/events/${id}/scheduling`, { headers })).status).toBe(406);
  });
});

describe('PUT /api/events/{id}/scheduling (4.5)', () => {
  test('204 when it is changed', async () => {
    const id = await schedule(app, { agent_id: newAgent(), start: START, end: END });
    const agent = newAgent();
    expect((await putScheduling(app, id, { agent_id: agent, end: '2030-01-07T11:00:00Z' })).status).toBe(204);
    expect(await read(id)).toEqual({ agent_id: agent, start: START, end: '2030-01-07T11:00:00Z' });
    expect(await event(id)).toMatchObject({ location: agent, duration: 2 * HOUR_MS });
  });

  test('204 for what a GET returned', async () => {
    const id = await schedule(app, { agent_id: newAgent(), start: START, end: END, inputs: ['camera'] });
    const scheduling = (await read(id)) as SchedulingJson;
    expect((await putScheduling(app, id, scheduling)).status).toBe(204);
    expect(await read(id)).toEqual(scheduling);
  });

  test.each([
    ['text that is no JSON', '{', 'Unparsable scheduling information'],
    ['a date that is none', '{"start":"2030-02-30T00:00:00Z","end":"2030-03-01T00:00:00Z"}', 'start'],
    ['neither end nor duration', '{"start":"2030-01-07T09:00:00Z"}', "'end' or 'duration'"],
    ['an end before the start', '{"end":"2030-01-07T08:00:00Z"}', 'end'],
  ])('400 for %s', async (_, scheduling, told) => {
    const id = await schedule(app, { agent_id: newAgent(), start: START, end: END });
    const answer = await putScheduling(app, id, scheduling);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(told);
  });

  test('404 when there is no such event', async () => {
    expect((await putScheduling(app, 'nowhere', { end: END })).status).toBe(404);
  });

  test('409 with the events in the way', async () => {
    const agent = newAgent();
    const id = await schedule(app, { agent_id: agent, start: START, end: END });
    await schedule(app, { agent_id: agent, start: END, duration: HOUR_MS }, 'Next');
    const answer = await putScheduling(app, id, { end: '2030-01-07T10:00:01Z' });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual([{ start: END, end: '2030-01-07T11:00:00Z', title: 'Next' }]);
  });
});

describe('GET /api/events (4.1)', () => {
  test('withscheduling adds scheduling information, and nothing to events that are not scheduled', async () => {
    const agent = newAgent();
    const id = await schedule(app, { agent_id: agent, start: START, end: END, inputs: ['camera'] });
    for (const path of [`/api/events/${id}?withscheduling=true`, '/api/events?withscheduling=true']) {
      const body = await (await app.request(path)).json();
      const events = [body].flat() as { identifier: string; scheduling: unknown }[];
      expect(events.find(({ identifier }) => identifier === id)?.scheduling).toEqual({
        agent_id: agent,
        start: START,
        end: END,
        inputs: ['camera'],
      });
    }
  });

  test.each([
    ['agent_id:%s', 'both'],
    ['location:%s', 'both'],
    ['agent_id:%s,start:2030-03-04T00:00:00Z/2030-03-04T23:59:59Z', 'first'],
    ['agent_id:%s,technical_start:2030-03-04T09:00:00Z/2030-03-04T09:00:00Z', 'first'],
    ['agent_id:%s,technical_start:2030-03-05T00:00:00Z/2030-03-06T00:00:00Z', 'second'],
    ['agent_id:%s,status:EVENTS.EVENTS.STATUS.SCHEDULED', 'both'],
    ['agent_id:%s,status:EVENTS.EVENTS.STATUS.PROCESSED', 'none'],
  ])('the filter %s finds %s', async (filter, found) => {
    const agent = newAgent();
    const first = await schedule(app, {
      agent_id: agent,
      start: '2030-03-04T09:00:00Z',
      duration: HOUR_MS,
    });
    const second = await schedule(app, {
      agent_id: agent,
      start: '2030-03-05T09:00:00Z',
      duration: HOUR_MS,
    });
    const answer = await app.request(`/api/events?filter=${encodeURIComponent(filter.replace('%s', agent))}`);
    const ids = ((await answer.json()) as { identifier: string }[]).map(({ identifier }) => identifier);
    const expected = { both: [first, second], first: [first], second: [second], none: [] }[found] ?? [];
    expect(ids.sort()).toEqual([...expected].sort());
  });
});
