import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { inBatches } from './concurrency.ts';

const BATCH = 500;

/**
 * Removes what an earlier try to store an object has left in the storage. Such a try remains when its answer was lost.
 * Leftovers without a row are on the staging ledger, or a verification reports them.
 * @returns the number of objects with leftovers
 */
export async function sweepUnfinished(
  database: Database,
  storage: Pick<ObjectStorage, 'unfinished' | 'removeUnfinished'>,
): Promise<number> {
  let swept = 0;
  for await (const keys of inBatches(storage.unfinished(), BATCH)) {
    for (const key of await stored(database, [...new Set(keys)])) {
      await storage.removeUnfinished(key);
      swept += 1;
    }
  }
  return swept;
}

/** Returns the keys of complete objects, which nobody writes any more. */
async function stored(database: Database, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT key FROM unnest(${keys}::text[]) AS key
    WHERE NOT EXISTS (SELECT FROM staging WHERE object_key = key)
      AND (EXISTS (SELECT FROM tracks WHERE object_key = key)
        OR EXISTS (SELECT FROM attachments WHERE object_key = key)
        OR EXISTS (SELECT FROM publication_elements WHERE object_key = key))`.execute(database);
  return rows.map(({ key }) => key);
}
