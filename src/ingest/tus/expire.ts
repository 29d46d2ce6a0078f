import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';

/** Each may have thousands of pieces, which go with it. */
const BATCH = 200;
/** What is more is left to the next run, so that this one shows that it lives. */
const BATCHES = 100;

/**
 * Forgets uploads that have expired, those that events have as well as the others. The objects that nobody has expire with
 * them, for the sweep of the staging ledger to remove.
 *
 * @param batch how many go in one statement
 * @returns how many there were
 */
export async function expireUploads(database: Queryable, batch = BATCH): Promise<number> {
  let expired = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM uploads WHERE id = ANY (ARRAY(
        SELECT id FROM uploads WHERE expires_at <= now()
        ORDER BY expires_at LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ))`.execute(database);
    expired += Number(numAffectedRows);
    if (numAffectedRows < batch) break;
  }
  return expired;
}
