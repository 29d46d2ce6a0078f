import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { markMissedRecordings } from '../../src/recordings/state.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { field, file, form } from '../support/form.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, putScheduling, update } from '../support/scheduling.ts';
import { catalogOf } from '../support/series.ts';
import { FOR_AGES } from '../support/watched.ts';

const HOUR_MS = 3_600_000;
const AGENTS = [newAgent(), newAgent()];
const EVENTS = 6;
const ROUNDS = 12;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const hour = (n: number) => new Date(Date.UTC(2024, 0, 7, n)).toISOString();
const agent = (n: number) => AGENTS[n % AGENTS.length] ?? '';

function track(id: string): Promise<Response> {
  const { type, body } = form([field('flavor', 'presenter/source'), file('track', 'a.mp4', bytes(1000))]);
  return app.request(`/api/events/${id}/track`, { method: 'POST', headers: { 'Content-Type': type }, body });
}

/** All that can happen to a scheduled event, in an order that differs with the turn. */
function happenings(id: string, turn: number): (() => Promise<{ status: number }>)[] {
  const place = { agent_id: agent(turn), start: hour(turn % 5), duration: HOUR_MS };
  const all = [
    () => putScheduling(app, id, place),
    () => putScheduling(app, id, { ...place, agent_id: agent(turn + 1) }, { allowConflict: 'true' }),
    () =>
      update(app, id, [
        field('metadata', catalogOf({ title: `Turn ${turn}` }, 'dublincore/episode')),
        field('processing', `{"workflow":"publish","configuration":{"turn":"${turn}"}}`),
        field('scheduling', JSON.stringify({ ...place, start: hour((turn + 2) % 5) })),
      ]),
    () => app.request(`/api/events/${id}/scheduling`),
    async () => {
      await markMissedRecordings(app.database, 0);
      return { status: 204 };
    },
    ...(turn === ROUNDS - 4
      ? [() => update(app, id, [file('presenter', 'a.mp4', bytes(1000))]), () => track(id)]
      : []),
    ...(turn === ROUNDS - 1 && id.endsWith('1')
      ? [() => app.request(`/api/events/${id}`, { method: 'DELETE' })]
      : []),
  ];
  return [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
}

test('whatever happens to scheduled events at once, none fails, and each is recorded once', async () => {
  const ids = Array.from({ length: EVENTS }, (_, i) => `storm-${i}`);
  for (const [i, id] of ids.entries()) {
    await insertScheduled(
      app.database,
      { agent_id: agent(i), start: hour(i + 10), end: hour(i + 11) },
      { id },
    );
  }
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    const answers = await Promise.all(ids.flatMap((id) => happenings(id, turn).map((happens) => happens())));
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
  }
  const { rows } = await sql<{ id: string; tracks: number; workflows: number }>`
    SELECT id, (SELECT count(*)::int FROM tracks WHERE event_id = events.id) AS tracks,
      (SELECT count(*)::int FROM workflows WHERE event_id = events.id) AS workflows
    FROM events ORDER BY id`.execute(app.database);
  const kept = ids.filter((id) => !id.endsWith('1'));
  expect(rows).toEqual(kept.map((id) => ({ id, tracks: 1, workflows: 1 })));
  const shown = await sql<{ id: string }>`
    SELECT id FROM events JOIN schedules ON event_id = id
    WHERE (events.agent_id, technical_start, technical_end, events.recording_state)
      IS DISTINCT FROM (schedules.agent_id, schedules.start_date, schedules.end_date, schedules.recording_state)`.execute(
    app.database,
  );
  expect(shown.rows).toEqual([]);
  await app.context.staging.sweep(FOR_AGES);
  expect(await Array.fromAsync(app.storage.list(''))).toHaveLength(kept.length);
});
