import { join } from 'node:path';
import type pg from 'pg';
import { isObjectKey } from '../../storage/keys.ts';
import { ObjectNotFound, type ObjectStorage } from '../../storage/port.ts';
import { digestOf } from '../digests.ts';
import { forEachOf } from '../for-each.ts';
import { type BackedUpObject, storeFromBackup } from './backed-up.ts';
import type { LackingObject } from './copy-objects.ts';
import { loadDatabase } from './load.ts';
import type { Manifest } from './manifest.ts';
import { listedObjects } from './objects-list.ts';

const AT_ONCE = 4;

/** What a backup is restored with. */
export interface RestoreParts {
  /** Writes the database, whose tables are those of the backup's migrations. */
  client: pg.Client;
  storage: Pick<ObjectStorage, 'get' | 'put' | 'size'>;
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
  const bring = async (object: BackedUpObject) => {
    const stored =
      (await isThere(object, storage, signal)) || (await storeFromBackup(folder, object, storage));
    if (!stored) lacking.push({ key: object.key, reason: 'the backup does not have it as it should be' });
    bytes += object.size;
    onProgress(bytes);
  };
  await forEachOf(listedObjects(database), bring, { atOnce: AT_ONCE, signal });
  await loadDatabase(client, database, manifest.tables, signal);
  return lacking;
}

/** Whether the storage has it, as an interrupted run left it: what is damaged is stored again. */
async function isThere(
  { key, size, sha256 }: BackedUpObject,
  storage: Pick<ObjectStorage, 'get' | 'size'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isObjectKey(key)) return false;
  const found = await storage.size(key).catch((error) => {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  });
  if (found !== size) return false;
  return sha256 === null || (await digestOf(storage, key, signal)) === sha256;
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
