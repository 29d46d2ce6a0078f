import { sql } from 'kysely';
import type pg from 'pg';

/** What everybody locks who removes objects, or wants them to stay. */
const REMOVALS = 'inlet removals of objects';

/** Whether objects may be removed now; asked in the statement that decides to. */
export const mayRemove = sql<boolean>`pg_try_advisory_xact_lock_shared(hashtextextended(${REMOVALS}, 0))`;

/**
 * Keeps all processes from removing objects for as long as the connection lives: what rows name from now on stays in the
 * storage, and be the rows deleted.
 *
 * @returns false when somebody else does so already
 */
export async function keepObjects(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ kept: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS kept',
    [REMOVALS],
  );
  return rows[0]?.kept ?? false;
}
