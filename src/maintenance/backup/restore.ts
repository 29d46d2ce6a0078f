import { join } from 'node:path';
import type pg from 'pg';
import { isObjectKey } from '#platform/storage/keys.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/port.ts';
import { forEachOf, oneByKey } from '../concurrency.ts';
import { digestOf, type Reading } from '../digests.ts';
import { type BackedUpObject, storeAsItIs, storeFromBackup } from './backed-up.ts';
import type { LackingObject } from './copy-objects.ts';
import { loadDatabase } from './load.ts';
import type { Manifest } from './manifest.ts';
import { listedObjects } from './objects-list.ts';

const AT_ONCE = 4;
const LACKING = 'the backup does not have it as it should be';
const BROUGHT = `${LACKING}; what it has was brought back, and verify reports it`;

/** What a backup is restored with. */
export interface RestoreParts {
  /** Writes the database, whose tables are those of the backup's migrations. */
  client: pg.Client;
  storage: Reading & Pick<ObjectStorage, 'put' | 'size' | 'removeUnfinished'>;
  /** Whether what the database holds may be lost. */
  replace: boolean;
  signal: AbortSignal;
  /** @param bytes of objects that are in the storage again */
  onProgress(bytes: number): void;
}

/**
 * Brings objects and tables of a backup back, the objects first: whatever ends it, repeating it goes on.
 *
 * @returns the objects that the backup lacks, or does not have as the database tells of them
 * @throws {NotToBeReplaced}
 */
export async function restoreBackup(
  folder: string,
  manifest: Manifest,
  { client, storage, replace, signal, onProgress }: RestoreParts,
): Promise<LackingObject[]> {
  const database = join(folder, manifest.database);
  const lacking: LackingObject[] = [];
  let bytes = 0;
  const bring = async (object: BackedUpObject) => {
    const { key } = object;
    const under = () => cleared(storage, key);
    const found = await sizeOf(storage, key);
    const stored =
      (await isSound(object, found, storage, signal)) || (await storeFromBackup(folder, object, storage, under));
    if (!stored) {
      const isBrought = found === undefined && (await storeAsItIs(folder, object, storage, under));
      lacking.push({ key, reason: isBrought ? BROUGHT : LACKING });
    }
    bytes += object.size;
    onProgress(bytes);
  };
  await forEachOf(listedObjects(database), oneByKey(bring), { atOnce: AT_ONCE, signal });
  // Since the objects were begun with somebody may have started Inlet, and be it for a moment.
  const mayReplace = () => requireUnused(client, replace);
  await loadDatabase(client, database, { rows: manifest.tables, mayReplace, signal });
  return lacking;
}

async function sizeOf(storage: Pick<ObjectStorage, 'size'>, key: string): Promise<number | undefined> {
  if (!isObjectKey(key)) return undefined;
  return storage.size(key).catch((error) => {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  });
}

/** Whether the storage has it, as an interrupted run left it: what is damaged is stored again. */
async function isSound(
  { key, size, sha256 }: BackedUpObject,
  found: number | undefined,
  storage: Reading,
  signal: AbortSignal,
): Promise<boolean> {
  if (found !== size) return false;
  return sha256 === null || (await digestOf(storage, key, signal)) === sha256;
}

/** @returns the key, when nothing is left under it of a restoration that was killed */
async function cleared(storage: Pick<ObjectStorage, 'removeUnfinished'>, key: string): Promise<string> {
  await storage.removeUnfinished(key);
  return key;
}

/** A restoration would lose something, or somebody is at work. The message says what to do. */
export class NotToBeReplaced extends Error {
  override name = 'NotToBeReplaced';
}

/**
 * @param replace whether what the database holds may be lost
 * @throws {NotToBeReplaced}
 */
export async function requireUnused(client: pg.Client, replace: boolean): Promise<void> {
  const [user] = await otherUsers(client);
  if (user !== undefined)
    throw new NotToBeReplaced(`Something works with the database ("${user}"); stop all of Inlet first.`);
  if (!replace && (await holdsData(client)))
    throw new NotToBeReplaced('The database holds data, which would be lost; --replace says that it may be.');
}

/** What others than the restorer have open on the database, by their names. */
async function otherUsers(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name ~ '^inlet (api|worker|all)' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Whether the database holds anything that would be lost. */
async function holdsData(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ tables: boolean }>("SELECT to_regclass('events') IS NOT NULL AS tables");
  if (!rows[0]?.tables) return false;
  const kinds = ['events', 'series', 'accounts', 'drafts', 'uploads'].map((table) => `EXISTS (SELECT FROM ${table})`);
  const found = await client.query<{ any: boolean }>(`SELECT ${kinds.join(' OR ')} AS any`);
  return found.rows[0]?.any ?? false;
}
