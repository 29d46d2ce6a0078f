import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';

const BATCH = 500;

/**
 * Removes what the storage has of uploads besides objects that rows name, and leaves these alone. It may have begun one twice
 * when an answer was lost, and begin the second one when the object has long been there. What belongs to no row is on the
 * staging ledger, or a verification tells of it.
 *
 * @returns how many objects had something left
 */
export async function sweepUnfinished(
  database: Database,
  storage: Pick<ObjectStorage, 'unfinished' | 'removeUnfinished'>,
): Promise<number> {
  let swept = 0;
  let batch = new Set<string>();
  const sweep = async () => {
    for (const key of await stored(database, [...batch])) {
      await storage.removeUnfinished(key);
      swept += 1;
    }
    batch = new Set();
  };
  for await (const key of storage.unfinished()) {
    batch.add(key);
    if (batch.size === BATCH) await sweep();
  }
  await sweep();
  return swept;
}

/** Those that are stored as a whole: nobody stores anything under their keys any more. */
async function stored(database: Database, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<{ key: string }>`
    SELECT key FROM unnest(${keys}::text[]) AS key
    WHERE NOT EXISTS (SELECT FROM staging WHERE object_key = key)
      AND (EXISTS (SELECT FROM tracks WHERE object_key = key)
        OR EXISTS (SELECT FROM attachments WHERE object_key = key)
        OR EXISTS (SELECT FROM publication_elements WHERE object_key = key))`.execute(database);
  return rows.map(({ key }) => key);
}
