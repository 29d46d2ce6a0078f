import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Cleanup } from '../../bench/support/cleanup.ts';
import { fill, type OldDatabase, oldDatabase } from './database.ts';
import { PROJECT } from './previous.ts';
import { migrateTo } from './version.ts';
import { Waits } from './waits.ts';

const NEWEST = 1;
const BETWEEN_MS = 20;

/** Applies the latest migration to a database with many events, while others read it and write to it. */
export async function migrationsAlone(folder: string, events: number, say: (text: string) => void, cleanup: Cleanup) {
  const old = await oldDatabase(folder, PROJECT, NEWEST, cleanup);
  await fill(old.database, PROJECT, events);
  say(`${events} events are there`);
  const stop = new AbortController();
  const working = use(old, stop.signal);
  const migrationMs = await migrateTo(PROJECT, { DATABASE_URL: old.url });
  stop.abort();
  const waits = await working;
  const { count: statements, longestMs } = waits;
  say(`the migration took ${migrationMs} ms; of ${statements} statements one waited ${longestMs} ms`);
  return { previous: null, events, migrationMs, statements, longestMs, faults: waits.faults('a statement') };
}

/** Reads a page, and changes an event, as every version does. */
async function use({ database }: OldDatabase, signal: AbortSignal): Promise<Waits> {
  const waits = new Waits();
  const statements = [
    sql`SELECT id, title FROM events ORDER BY start_date DESC, id LIMIT 20`,
    sql`UPDATE events SET processing_state = 'SUCCEEDED' WHERE id = (SELECT id FROM events ORDER BY id LIMIT 1)`,
    sql`SELECT count(*) FROM staging`,
    sql`SELECT id FROM workflow_operations WHERE state = 'running'`,
  ];
  for (let i = 0; !signal.aborted; i += 1) {
    await waits.time(async () => statements[i % statements.length]?.execute(database));
    await pause(BETWEEN_MS);
  }
  return waits;
}
