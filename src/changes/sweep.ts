import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

const BATCH = 5_000;
const BATCHES = 20;

/** Deletes a limited number of changes older than this, except those a persistent reader has not read. */
export async function sweepChanges(database: Database, days: number): Promise<number> {
  let removed = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM changes WHERE id IN (
        SELECT id FROM (SELECT id, at, number FROM changes ORDER BY id LIMIT ${BATCH}) AS oldest
        WHERE at < now() - make_interval(days => ${days}) AND number IS NOT NULL
          AND number <= coalesce((SELECT min(position) FROM changes_readers), number))`.execute(database);
    removed += Number(numAffectedRows);
    if (numAffectedRows < BATCH) break;
  }
  return removed;
}
