import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { createEmptyDatabase } from '../support/database.ts';

const SQL = fileURLToPath(new URL('../../sql/', import.meta.url));

let empty: { url: string; drop(): Promise<void> };
let client: pg.Client;
let before: string;
beforeAll(async () => {
  before = await mkdtemp(join(tmpdir(), 'inlet-sql-'));
  const files = (await readdir(SQL)).filter((file) => file < '0012');
  for (const file of files) await cp(join(SQL, file), join(before, file));
  empty = await createEmptyDatabase();
  const { url } = empty;
  await migrate(url, before);
  client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    INSERT INTO events (id, title, creator, start_date, created, duration, processing_state) VALUES
      ('recorded', 'Lecture', 'Tester', '2026-04-13T08:15:00Z', now(), 5400000, 'SUCCEEDED'),
      ('running', 'Lecture', 'Tester', '2026-04-14T08:15:00Z', now(), NULL, 'RUNNING'),
      ('empty', 'Lecture', 'Tester', '2026-04-15T08:15:00Z', now(), 60000, '')`);
  await migrate(url);
});
afterAll(async () => {
  await client?.end();
  await empty?.drop();
  await rm(before, { recursive: true, force: true });
});

const shown = async () => {
  const { rows } = await client.query(`
    SELECT id, agent_id, technical_start, technical_end, recording_state, status FROM events ORDER BY start_date`);
  return rows;
};
const unscheduled = (id: string, start: string, end: string, status: string) => ({
  id,
  agent_id: '',
  technical_start: new Date(start),
  technical_end: new Date(end),
  recording_state: '',
  status,
});
const UPGRADED = [
  unscheduled('recorded', '2026-04-13T08:15:00Z', '2026-04-13T09:45:00Z', 'PROCESSED'),
  unscheduled('running', '2026-04-14T08:15:00Z', '2026-04-14T08:15:00Z', 'PROCESSING'),
  unscheduled('empty', '2026-04-15T08:15:00Z', '2026-04-15T08:16:00Z', 'PROCESSED'),
];

test('events from before scheduling get their bibliographic times as technical ones, and a status', async () => {
  expect(await shown()).toEqual(UPGRADED);
});

test('the migration leaves schedules and what events show of them alone when it runs again', async () => {
  const all = 'SELECT * FROM schedules ORDER BY event_id';
  await client.query(`
    INSERT INTO capture_agents (id) VALUES ('room');
    INSERT INTO schedules (event_id, agent_id, start_date, end_date, gap_ms, allow_conflict, workflow) VALUES
      ('empty', 'room', '2030-01-07T08:00:00Z', '2030-01-07T09:00:00Z', 60000, false, 'publish'),
      ('running', 'room', '2030-01-07T08:30:00Z', '2030-01-07T10:00:00Z', 60000, true, 'publish')`);
  const [events, schedules] = [await shown(), (await client.query(all)).rows];
  expect(events.map(({ agent_id, status }) => [agent_id, status])).toEqual([
    ['', 'PROCESSED'],
    ['room', 'PROCESSING'],
    ['room', 'SCHEDULED'],
  ]);
  await client.query("DELETE FROM schema_migrations WHERE name LIKE '0012%'");
  expect(await migrate(empty.url)).toEqual(['0012_scheduling.sql']);
  expect(await shown()).toEqual(events);
  expect((await client.query(all)).rows).toEqual(schedules);
});
