import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';

/** Whoever removes objects decides in milliseconds which. */
const WAIT_MS = 10_000;
const RETRY_MS = 20;
/** What everybody locks who removes objects, or wants them to stay. */
const REMOVALS = 'inlet removals of objects';

/** Whether objects may be removed now; asked once, in the statement that decides to. */
export const mayRemove = sql<boolean>`(SELECT pg_try_advisory_xact_lock_shared(hashtextextended(${REMOVALS}, 0)))`;

/**
 * Keeps all processes from removing objects for as long as the connection lives: what rows name from now on stays in the
 * storage, and be the rows deleted.
 *
 * @returns false when somebody else does so already
 */
export async function keepObjects(client: pg.Client, waitMs = WAIT_MS): Promise<boolean> {
  for (const until = performance.now() + waitMs; ; await sleep(RETRY_MS)) {
    const { rows } = await client.query<{ kept: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS kept',
      [REMOVALS],
    );
    if (rows[0]?.kept) return true;
    if (performance.now() > until) return false;
  }
}
