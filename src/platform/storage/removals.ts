import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';

/** A decision to remove objects takes milliseconds. */
const WAIT_MS = 10_000;
const RETRY_MS = 20;
const REMOVALS = 'inlet removals of objects';

/** True when objects may be removed now. Evaluate it once, in the statement that decides to. */
export const removalAllowed = sql<boolean>`(SELECT pg_try_advisory_xact_lock_shared(hashtextextended(${REMOVALS}, 0)))`;

/** Keeps all processes from removing objects while the connection lives; false when another one does. */
export async function blockRemovals(client: pg.Client, waitMs = WAIT_MS): Promise<boolean> {
  for (const until = performance.now() + waitMs; ; await sleep(RETRY_MS)) {
    const { rows } = await client.query<{ kept: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS kept',
      [REMOVALS],
    );
    if (rows[0]?.kept) return true;
    if (performance.now() > until) return false;
  }
}
