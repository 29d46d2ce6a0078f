import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import { OWNED } from '../owned-objects.ts';

/** Days that an object without an owner is kept before the sweep of the staging ledger removes it. */
const RETENTION_DAYS = 7;
/** The owner of these entries of the ledger. */
const OWNER = 'repair';

/**
 * Puts an object that has no owner on the staging ledger, whose sweep removes it after seven days. Objects that a row names
 * or that are on the ledger already stay as they are.
 *
 * @returns when it will be removed; undefined when it has an owner or is on the ledger
 */
export async function keepOrphan(db: Queryable, key: string): Promise<Date | undefined> {
  // A draft or an upload that an event has taken still names the object that the event has now.
  const { rows } = await sql<{ expires_at: Date }>`
    INSERT INTO staging (object_key, owner, expires_at)
    SELECT ${key}, ${OWNER}, now() + make_interval(days => ${sql.lit(RETENTION_DAYS)})
    WHERE NOT EXISTS (SELECT FROM (${sql.raw(OWNED)}) AS owned WHERE key = ${key})
      AND NOT EXISTS (SELECT FROM uploads WHERE object_key = ${key} AND event_id IS NULL AND expires_at > now())
    ON CONFLICT DO NOTHING RETURNING expires_at`.execute(db);
  return rows[0]?.expires_at;
}
