import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/** Who measures; another process does not meanwhile. */
const TURN = 'inlet storage sizes';

/**
 * Writes down how much is stored, once in an hour, whichever process does it. Adds up the sizes of all files, which may take
 * seconds.
 *
 * @returns false when it has been done in this hour, or is being done
 */
export async function measureStorage(database: Database): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { rows } = await sql<{ due: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${TURN}, 0)) AS due
      WHERE NOT EXISTS (SELECT FROM storage_sizes WHERE hour = date_trunc('hour', now(), 'UTC'))`.execute(
      trx,
    );
    if (!rows[0]?.due) return false;
    // Apart from writing it down: a statement that writes is not carried out by several processors.
    const sizes = await sql<{ received: number; processed: number; unfinished: number }>`
      SELECT (SELECT coalesce(sum(size), 0) FROM tracks)::bigint + (SELECT coalesce(sum(size), 0) FROM attachments)::bigint
          AS received,
        (SELECT coalesce(sum(size), 0) FROM publication_elements)::bigint AS processed,
        (SELECT coalesce(sum(size), 0) FROM draft_tracks)::bigint
          + (SELECT coalesce(sum(size), 0) FROM draft_attachments)::bigint
          + (SELECT coalesce(sum(stored + rest_bytes), 0) FROM uploads WHERE event_id IS NULL)::bigint
          AS unfinished`.execute(trx);
    const [measured] = sizes.rows;
    if (!measured) return false;
    const { numInsertedOrUpdatedRows = 0n } = await trx
      .insertInto('storage_sizes')
      .values({ hour: sql<Date>`date_trunc('hour', now(), 'UTC')`, ...measured })
      .onConflict((row) => row.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows > 0n;
  });
}
