import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { file, type Part } from '../support/form.ts';
import { type ConflictJson, newAgent, schedule, scheduledFields } from '../support/scheduling.ts';

const AT_ONCE = 50;
const HOUR_MS = 3_600_000;
const SLOT = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

interface Seen {
  status: number;
  body: unknown;
}

async function ask(parts: readonly Part[], headers: Record<string, string> = {}): Promise<Seen> {
  const answer = await post(app, parts, headers);
  return { status: answer.status, body: await answer.json() };
}

const atOnce = (parts: (i: number) => Part[]) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, i) => ask(parts(i))));

/** Everything there is of events and their schedules. */
async function rows() {
  const { database } = app;
  const [events, schedules, acl] = await Promise.all([
    database.selectFrom('events').select(['id', 'agent_id', 'title']).orderBy('start_date').execute(),
    database.selectFrom('schedules').select(['event_id', 'agent_id']).orderBy('start_date').execute(),
    database.selectFrom('event_acl').select('event_id').execute(),
  ]);
  return { events, schedules, acl };
}

test('of many requests for one slot, recordings in them, one gets it; the others leave nothing', async () => {
  const agent = newAgent();
  const before = await counts(app);
  const answers = await atOnce((i) => [
    file('presenter', 'a.mp4', bytes(2000, i + 1)),
    ...scheduledFields({ agent_id: agent, ...SLOT }, `Lecture ${i}`),
  ]);
  const winners = answers.filter(({ status }) => status === 201);
  expect(winners).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(AT_ONCE - 1);
  const { identifier } = (winners[0]?.body ?? {}) as { identifier?: string };
  const winner = (await rows()).events.find(({ id }) => id === identifier);
  for (const { status, body } of answers) {
    if (status === 409) expect(body).toEqual([{ ...SLOT, title: winner?.title }]);
  }
  expect(await counts(app)).toEqual({
    events: before.events + 1,
    staged: before.staged,
    stored: before.stored + 1,
  });
});

test('of many rules that overlap one wins whole; the others leave nothing', async () => {
  const agent = newAgent();
  const answers = await atOnce((i) =>
    scheduledFields(
      {
        agent_id: agent,
        start: new Date(Date.UTC(2031, 3, 1 + (i % 5))).toISOString(),
        end: new Date(Date.UTC(2031, 3, 11 + (i % 5))).toISOString(),
        duration: HOUR_MS,
        rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0',
      },
      `Course ${i}`,
    ),
  );
  const winners = answers.flatMap(({ status, body }) =>
    status === 200 ? [(body as { identifier: string }[]).map(({ identifier }) => identifier)] : [],
  );
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(AT_ONCE - 1);
  expect(winners).toHaveLength(1);
  const [ids = []] = winners;
  expect(ids).toHaveLength(10);
  const { events, schedules, acl } = await rows();
  expect(events.filter(({ agent_id }) => agent_id === agent).map(({ id }) => id)).toEqual(ids);
  expect(schedules.filter(({ agent_id }) => agent_id === agent).map(({ event_id }) => event_id)).toEqual(ids);
  const owners = new Set(events.map(({ id }) => id));
  expect(acl.filter(({ event_id }) => !owners.has(event_id))).toEqual([]);
});

test('many requests for different agents, or for times that touch, all succeed', async () => {
  const agent = newAgent();
  const answers = await atOnce((i) => {
    const start = Date.UTC(2032, 0, 1) + Math.floor(i / 2) * HOUR_MS;
    const times = { start: new Date(start).toISOString(), duration: HOUR_MS };
    return scheduledFields({ agent_id: i % 2 === 0 ? agent : newAgent(), ...times });
  });
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
});

test('the same request with the same key gets the same events again', async () => {
  const rule = {
    agent_id: newAgent(),
    start: '2033-01-01T00:00:00Z',
    end: '2033-01-05T00:00:00Z',
    duration: HOUR_MS,
    rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0',
  };
  const headers = { 'Idempotency-Key': randomUUID() };
  const first = await ask(scheduledFields(rule), headers);
  expect(first).toMatchObject({ status: 200, body: { length: 4 } });
  const before = await counts(app);
  expect(await ask(scheduledFields(rule), headers)).toEqual(first);
  expect((await post(app, scheduledFields({ ...rule, agent_id: newAgent() }), headers)).status).toBe(422);
  expect(await counts(app)).toEqual(before);
});

test('a conflict is not remembered: the same request may succeed once the time is free', async () => {
  const slot = { agent_id: newAgent(), start: '2034-01-01T09:00:00Z', duration: HOUR_MS };
  const id = await schedule(app, slot, 'First');
  const headers = { 'Idempotency-Key': randomUUID() };
  const parts = scheduledFields(slot, 'Second');
  const refused = await ask(parts, headers);
  expect(refused.status).toBe(409);
  expect((refused.body as ConflictJson[]).map(({ title }) => title)).toEqual(['First']);
  expect((await app.request(`/api/events/${id}`, { method: 'DELETE' })).status).toBe(204);
  expect((await ask(parts, headers)).status).toBe(201);
});
