import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { field } from '../support/form.ts';
import { newAgent, putScheduling, schedule, update } from '../support/scheduling.ts';

const MOVED = { start: '2030-01-08T10:00:00Z', end: '2030-01-08T11:00:00Z' };

let app: TestApp;
let agentId: string;
let eventId: string;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  agentId = newAgent();
  const slot = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
  eventId = await schedule(app, { agent_id: agentId, ...slot });
});

const scheduling = field('scheduling', JSON.stringify(MOVED));
const processing = field('processing', JSON.stringify({ workflow: 'republish-metadata' }));

test.each<[string, () => Promise<Response>]>([
  ['deletes an event', async () => app.request(`/api/events/${eventId}`, { method: 'DELETE' })],
  ['moves a schedule', () => putScheduling(app, eventId, MOVED)],
  ['moves a schedule with other changes', () => update(app, eventId, [processing, scheduling])],
])('a request that %s waits for the agent with the event locked and the schedule free', async (_, send) => {
  let answer: Promise<Response> | undefined;
  await app.database.transaction().execute(async (trx) => {
    await sql`SELECT FROM capture_agents WHERE id = ${agentId} FOR NO KEY UPDATE`.execute(trx);
    answer = send();
    await eventually(async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(app.database);
      expect(rows).toHaveLength(1);
    });
    // What holds the agent may have to write any of its schedules.
    await sql`SELECT FROM schedules WHERE event_id = ${eventId} FOR UPDATE NOWAIT`.execute(trx);
    const free = sql`SELECT FROM events WHERE id = ${eventId} FOR UPDATE SKIP LOCKED`.execute(trx);
    expect((await free).rows).toEqual([]);
  });
  expect((await answer)?.status).toBe(204);
});
