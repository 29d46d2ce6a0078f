import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/** The name of the lock, so that one process measures. */
const TURN = 'inlet storage sizes';

/**
 * Records the stored bytes once per hour, in one of all processes. Sums the sizes of all files, which may take seconds.
 *
 * @returns false when this hour is recorded already or another process is measuring
 */
export async function measureStorage(database: Database): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const { rows } = await sql<{ due: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${TURN}, 0)) AS due
      WHERE NOT EXISTS (SELECT FROM storage_sizes WHERE hour = date_trunc('hour', now(), 'UTC'))`.execute(trx);
    if (!rows[0]?.due) return false;
    // Not part of the INSERT, because PostgreSQL runs no statement that writes in parallel.
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
