import { join } from 'node:path';
import type pg from 'pg';
import { ObjectNotFound, type ObjectStorage } from '../../storage/port.ts';
import { storeFromBackup } from '../repair/from-backup.ts';
import type { LackingObject } from './copy-objects.ts';
import type { BackedUpObject } from './dump.ts';
import { forEachOf } from './for-each.ts';
import { loadDatabase } from './load.ts';
import type { Manifest } from './manifest.ts';
import { listedObjects } from './objects-list.ts';

/** What a backup is restored with. */
export interface RestoreParts {
  /** Writes the database, whose tables are those of the backup's migrations. */
  client: pg.Client;
  storage: Pick<ObjectStorage, 'put' | 'remove' | 'size'>;
  signal: AbortSignal;
  /** @param bytes of objects that are in the storage again */
  onProgress(bytes: number): void;
}

/**
 * Brings objects and tables of a backup back, the objects first: whatever ends it, repeating it goes on.
 *
 * @returns the objects that the backup lacks
 */
export async function restoreBackup(
  folder: string,
  manifest: Manifest,
  { client, storage, signal, onProgress }: RestoreParts,
): Promise<LackingObject[]> {
  const database = join(folder, manifest.database);
  const lacking: LackingObject[] = [];
  let bytes = 0;
  await forEachOf(listedObjects(database), signal, async (object) => {
    const stored = (await isThere(object, storage)) || (await storeFromBackup(folder, object, storage));
    if (!stored) lacking.push({ key: object.key, reason: 'the backup does not have it as it should be' });
    bytes += object.size;
    onProgress(bytes);
  });
  await loadDatabase(client, database, manifest.tables, signal);
  return lacking;
}

async function isThere(
  { key, size }: BackedUpObject,
  storage: Pick<ObjectStorage, 'size'>,
): Promise<boolean> {
  try {
    return (await storage.size(key)) === size;
  } catch (error) {
    if (error instanceof ObjectNotFound) return false;
    throw error;
  }
}

/** What others than the restorer have open on the database, by their names. */
export async function otherUsers(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name ~ '^inlet (api|worker|all)' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Whether the database holds anything that would be lost. */
export async function holdsData(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ tables: boolean }>(
    "SELECT to_regclass('events') IS NOT NULL AS tables",
  );
  if (!rows[0]?.tables) return false;
  const kinds = ['events', 'series', 'accounts', 'drafts', 'uploads'].map(
    (table) => `EXISTS (SELECT FROM ${table})`,
  );
  const found = await client.query<{ any: boolean }>(`SELECT ${kinds.join(' OR ')} AS any`);
  return found.rows[0]?.any ?? false;
}
