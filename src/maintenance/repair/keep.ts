import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import { OWNED } from '../owned-objects.ts';

/** What nobody owns is kept for so long before it is removed: somebody may know whose it was. */
const KEPT_DAYS = 7;
/** Whom the ledger names as its owner until then. */
const OWNER = 'repair';
const until = sql<Date>`now() + make_interval(days => ${sql.lit(KEPT_DAYS)})`;

/**
 * Has the sweep remove an object that nobody owns, but not soon. One that a row names stays as it is: rows that somebody
 * has changed by hand may share one. A draft and an upload that an event has taken still name what that has now.
 *
 * @returns when; undefined when it is somebody's, or on the ledger already
 */
export async function keepForNow(database: Database, key: string): Promise<Date | undefined> {
  const { rows } = await sql<{ expires_at: Date }>`
    INSERT INTO staging (object_key, owner, expires_at)
    SELECT ${key}, ${OWNER}, ${until} WHERE NOT EXISTS (SELECT FROM (${sql.raw(OWNED)}) AS owned WHERE key = ${key})
      AND NOT EXISTS (SELECT FROM uploads WHERE object_key = ${key} AND event_id IS NULL AND expires_at > now())
    ON CONFLICT DO NOTHING RETURNING expires_at`.execute(database);
  return rows[0]?.expires_at;
}

/** Keeps what an earlier repair keeps for as long again. @returns false when it is being removed, or somebody's by now */
export async function keepLonger(database: Database, key: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('staging')
    .set({ expires_at: until })
    .where('object_key', '=', key)
    .where('owner', '=', OWNER)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The keys of what earlier repairs keep, and be it that nothing is there any more. */
export async function keptObjects(database: Database): Promise<string[]> {
  const kept = await database.selectFrom('staging').select('object_key').where('owner', '=', OWNER).execute();
  return kept.map(({ object_key }) => object_key);
}
