import type { Database } from '../../database/kysely.ts';

/** What nobody owns is kept for so long before it is removed: somebody may know whose it was. */
const KEPT_DAYS = 7;
/** Whom the ledger names as its owner until then. */
const OWNER = 'repair';

/** Has the sweep remove an object that nobody owns, but not soon. @returns when */
export async function keepForNow(database: Database, key: string): Promise<Date> {
  const expiresAt = new Date(Date.now() + KEPT_DAYS * 86_400_000);
  await database
    .insertInto('staging')
    .values({ object_key: key, owner: OWNER, expires_at: expiresAt })
    .onConflict((entry) => entry.doNothing())
    .execute();
  return expiresAt;
}
