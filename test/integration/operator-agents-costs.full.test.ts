import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DB } from '../../src/database/schema.ts';
import { agentsAtWork } from '../../src/recordings/agents/at-work.queries.ts';
import { failedRecordings, uploadingRecordings } from '../../src/recordings/failed.queries.ts';
import { timetable } from '../../src/recordings/schedules/timetable.queries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type LoggedDatabase, loggedDatabase } from '../support/logged-database.ts';
import { costsOf } from '../support/plans.ts';
import { withoutIndexes } from '../support/without-indexes.ts';

/** An hour each, one after the other on every agent, half of them over. */
const EACH = 300;
const AGENTS = 100;
const HOUR = 3_600_000;

let db: TestDatabase;
let logged: LoggedDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database
    .connection()
    .execute((connection) => withoutIndexes(connection, ['events', 'schedules'], () => seed(connection)));
  await sql`VACUUM ANALYZE events, schedules, capture_agents`.execute(db.database);
  logged = loggedDatabase(db.url);
});
afterAll(async () => {
  await logged?.database.destroy();
  await db?.close();
});

async function seed(connection: Kysely<DB>): Promise<void> {
  await sql`INSERT INTO capture_agents (id, state, seen_at)
    SELECT 'Hall ' || i, 'idle', now() FROM generate_series(1, ${AGENTS}::integer) AS i`.execute(connection);
  const half = EACH / 2;
  await sql`
    INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow, recording_state, recording_state_since)
    SELECT agent || '-' || i, 'Hall ' || agent, start, start + interval '1 hour', 'none',
      CASE WHEN i > ${half} THEN '' WHEN i % 10 = 0 THEN 'upload_error' ELSE 'upload_finished' END, start
    FROM generate_series(1, ${AGENTS}::integer) AS agent, generate_series(1, ${EACH}::integer) AS i,
      LATERAL (SELECT now() - interval '30 minutes' + (i - ${half}) * interval '5 hours' AS start) AS at`.execute(
    connection,
  );
  await sql`
    INSERT INTO events (id, title, start_date, created, creator, processing_state)
    SELECT event_id, 'Lecture', start_date, start_date, 'Tester',
      CASE recording_state WHEN 'upload_finished' THEN 'SUCCEEDED' ELSE '' END
    FROM schedules`.execute(connection);
}

const week = (agentId: string) => ({
  agentId,
  start: new Date(Date.now() - 3.5 * 24 * HOUR),
  end: new Date(Date.now() + 3.5 * 24 * HOUR),
});

test.each<[string, number, (db: Kysely<DB>) => Promise<unknown>]>([
  // Of each agent: itself, what it records now by both indexes, its title, what is next, its failures.
  ['what all agents do', 2500, (on) => agentsAtWork(on, { search: '' }, 200)],
  ['what one agent does, with the failures of all', 1200, (on) => agentsAtWork(on, { id: 'Hall 7' }, 1)],
  ['the week of an agent', 250, (on) => timetable(on, [week('Hall 7')], 500)],
  [
    'a day of all agents',
    4000,
    (on) => {
      const start = new Date(Date.now() - 12 * HOUR);
      const day = { start, end: new Date(start.getTime() + 24 * HOUR) };
      return timetable(
        on,
        Array.from({ length: AGENTS }, (_, i) => ({ agentId: `Hall ${i + 1}`, ...day })),
        50,
      );
    },
  ],
  ['failures', 400, (on) => failedRecordings(on, { graceMs: 24 * HOUR, most: 50 })],
  [
    'the failures of an agent',
    1500,
    (on) => failedRecordings(on, { agentId: 'Hall 7', graceMs: 24 * HOUR, most: 50 }),
  ],
  ['uploads', 100, (on) => uploadingRecordings(on, { most: 50 })],
])('%s: does not read all events or schedules', async (_, most, work) => {
  const { touched, plan } = await costsOf(logged, work);
  expect(plan).not.toMatch(/Seq Scan on (events|schedules)/);
  expect(touched).toBeLessThan(most);
});
