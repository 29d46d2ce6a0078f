import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Database } from '#platform/database/kysely.ts';
import { eventually } from './eventually.ts';

/** Waits until one statement waits for what another transaction of the database has locked. */
export async function untilOneWaits(database: Database): Promise<void> {
  await eventually(async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database);
    expect(rows).toHaveLength(1);
  });
}
