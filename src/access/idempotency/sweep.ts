import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import { couldSpeakFor, type Watched } from '#platform/database/watch.ts';
import { LEASE_SECONDS } from './ledger.ts';

const BATCH = 1000;
const BATCHES = 20;

/**
 * Removes expired keys, a bounded number at a time. Safe to run in several processes at once.
 *
 * @param seen of the database: an outage of it is no silence of requests under way
 * @returns how many were removed
 */
export async function sweepIdempotencyKeys(
  database: Database,
  seen: Watched | undefined,
  batch = BATCH,
): Promise<number> {
  let removed = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM idempotency_keys WHERE (sender, key) IN (
        SELECT sender, key FROM idempotency_keys WHERE expires_at <= now()
          AND (status IS NOT NULL OR ${couldSpeakFor(LEASE_SECONDS, seen)})
        ORDER BY expires_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
      )`.execute(database);
    removed += Number(numAffectedRows);
    if (numAffectedRows < batch) break;
  }
  return removed;
}
