import { sql } from 'kysely';
import type { Database } from '../../database/kysely.ts';
import { OWNER_TABLES } from '../owned-objects.ts';

/** What nobody owns is kept for so long before it is removed: somebody may know whose it was. */
const KEPT_DAYS = 7;
/** Whom the ledger names as its owner until then. */
const OWNER = 'repair';

/**
 * Has the sweep remove an object that nobody owns, but not soon. One that a row names stays as it is: rows that somebody
 * has changed by hand may share one.
 *
 * @returns when
 */
export async function keepForNow(database: Database, key: string): Promise<Date> {
  const expiresAt = new Date(Date.now() + KEPT_DAYS * 86_400_000);
  const named = OWNER_TABLES.map((table) => sql`SELECT FROM ${sql.table(table)} WHERE object_key = ${key}`);
  await sql`
    INSERT INTO staging (object_key, owner, expires_at)
    SELECT ${key}, ${OWNER}, ${expiresAt}::timestamptz WHERE NOT EXISTS (${sql.join(named, sql` UNION ALL `)})
    ON CONFLICT DO NOTHING`.execute(database);
  return expiresAt;
}

/** The keys of what earlier repairs keep, and be it that nothing is there any more. */
export async function keptObjects(database: Database): Promise<string[]> {
  const kept = await database.selectFrom('staging').select('object_key').where('owner', '=', OWNER).execute();
  return kept.map(({ object_key }) => object_key);
}
