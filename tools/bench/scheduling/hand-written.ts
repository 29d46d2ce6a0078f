import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { COLUMNS } from '../lists/columns.ts';

/** What is wanted of an agent. */
export interface Wanted {
  agent: string;
  periods: readonly { start: Date; end: Date }[];
}

/** Schedules events, with the statements that the tables ask for. @returns their identifiers */
export async function insertRecordings(client: pg.Client, { agent, periods }: Wanted): Promise<string[]> {
  const ids = periods.map(() => randomUUID());
  const values = [ids, agent, periods.map(({ start }) => start), periods.map(({ end }) => end)];
  const wanted = 'unnest($1::text[], $3::timestamptz[], $4::timestamptz[]) AS wanted (id, start_date, end_date)';
  await client.query('BEGIN');
  await client.query('SELECT FROM capture_agents WHERE id = $1 FOR NO KEY UPDATE', [agent]);
  await client.query(
    `INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
     SELECT id, $2, start_date, end_date, 'schedule-and-upload' FROM ${wanted}`,
    values,
  );
  await client.query(
    `INSERT INTO events (id, title, location, creator, start_date, created, duration)
     SELECT id, 'Benchmark', $2, 'benchmark', start_date, start_date,
       extract(epoch FROM end_date - start_date)::bigint * 1000 FROM ${wanted}`,
    values,
  );
  await client.query('COMMIT');
  return ids;
}

/** What stands in the way. */
export async function findConflicts(client: pg.Client, { agent, periods }: Wanted): Promise<number> {
  const { rows } = await client.query(
    `SELECT schedules.start_date, schedules.end_date, title
     FROM schedules JOIN events ON events.id = event_id
     WHERE schedules.agent_id = $1 AND claimed && (SELECT range_agg(tstzrange(start_date, end_date))
       FROM unnest($2::timestamptz[], $3::timestamptz[]) AS wanted (start_date, end_date))
     ORDER BY schedules.start_date`,
    [agent, periods.map(({ start }) => start), periods.map(({ end }) => end)],
  );
  return rows.length;
}

/** The recordings of an agent in a period, the latest first; or the first one first, with their schedules. */
export async function listRecordings(
  client: pg.Client,
  { agent, from, to, withSchedules }: { agent: string; from: Date; to: Date; withSchedules: boolean },
): Promise<number> {
  const where = 'events.agent_id = $1 AND technical_start >= $2 AND technical_start <= $3';
  const text = withSchedules
    ? `SELECT events.*, schedules.inputs FROM (SELECT ${COLUMNS.events} FROM events WHERE ${where}) AS events
       JOIN schedules ON event_id = events.id ORDER BY technical_start, events.id`
    : `SELECT ${COLUMNS.events} FROM events WHERE ${where} ORDER BY start_date DESC, id DESC`;
  return (await client.query(text, [agent, from, to])).rows.length;
}
