import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { blockRemovals } from '#platform/storage/staging-sweep.ts';
import type { ObjectReader } from '../digests.ts';
import { copyObjects, type MissingObject, removeOthers } from './backup-objects.ts';
import { dumpDatabase, listedObjects } from './dump.ts';
import { BackupError, databaseFolder, type Manifest, readManifest, writeManifest } from './manifest.ts';

/** The parts of a backup. Each client is used for nothing else. */
interface BackupParts {
  client: pg.Client;
  /** Holds the lock that prevents removals of objects. */
  keeper: pg.Client;
  storage: ObjectReader;
  version: string;
  /** Identifier of the installation (`systemOf`). */
  system: string;
  /** Reads the objects of an earlier backup too. */
  digests: boolean;
  signal: AbortSignal;
  /** @param bytes size of the objects in the backup so far. @param all size of all objects */
  onProgress(bytes: number, all: number): void;
}

/**
 * Takes a backup while the system runs: a snapshot of the tables, then the objects that they name, which are not
 * removed before the end even if their events are deleted. A folder with an earlier backup gets the new objects only;
 * that backup stays valid until this one is complete.
 * @returns the manifest, and the objects that the backup lacks
 * @throws {BackupError}
 */
export async function takeBackup(
  folder: string,
  { client, keeper, storage, version, system, digests, signal, onProgress }: BackupParts,
): Promise<{ manifest: Omit<Manifest, 'format'>; lacking: MissingObject[] }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!(await blockRemovals(keeper))) throw new BackupError('Another backup is in progress. Wait for it to finish.');
  await removeDatabases(folder, (await readManifest(folder))?.database);
  const taken = new Date();
  const name = databaseFolder(taken);
  const database = join(folder, name);
  const dump = await dumpDatabase(client, database, signal).catch(async (error) => {
    await rm(database, { recursive: true, force: true });
    throw error;
  });
  let bytes = 0;
  const onBytes = (more: number) => {
    bytes += more;
    onProgress(bytes, dump.bytes);
  };
  const lacking = await copyObjects(listedObjects(database), folder, storage, {
    signal,
    digests,
    onBytes,
  });
  // The lock ends with the connection. If the connection is lost, objects may have been removed.
  await keeper.query('SELECT 1');
  const manifest = { taken: taken.toISOString(), version, system, database: name, ...dump };
  await writeManifest(folder, manifest);
  await removeDatabases(folder, name);
  await removeOthers(listedObjects(database), folder);
  return { manifest, lacking };
}

/** Removes the tables of other backups, complete or not. Failed backups would use more space each night. */
async function removeDatabases(folder: string, except: string | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('database-') && name !== except) await rm(join(folder, name), { recursive: true });
  }
}

/** Names in a backup folder, complete or not, and the folder that file systems create. */
const OURS = /^(objects|manifest\.json(\.new)?|database-[0-9TZ]+|lost\+found)$/;

/**
 * Rejects a folder in which a backup would replace or remove other files.
 * @param dataDir folder of the installation's objects
 * @param system identifier of the installation (`systemOf`)
 * @throws {BackupError}
 */
export async function requireBackupFolder(
  folder: string,
  { dataDir, system }: { dataDir: string; system: string },
): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new BackupError(`${folder} cannot be used as backup folder: ${error.message}`);
  });
  const [storage, objects] = await Promise.all([dataDir, folder].map(objectsOf));
  if (storage !== undefined && storage === objects)
    throw new BackupError(`${folder} holds the objects of Inlet. Use another folder.`);
  const foreign = names.find((name) => !OURS.test(name));
  if (foreign !== undefined)
    throw new BackupError(
      `${folder} contains "${foreign}", which is not part of a backup. Use an empty folder or the folder of an earlier backup.`,
    );
  const manifest = await readManifest(folder);
  if (manifest?.system !== undefined && manifest.system !== system)
    throw new BackupError(
      `${folder} holds the backup of another database, which would be replaced. Use another folder, or check DATABASE_URL.`,
    );
}

async function objectsOf(folder: string): Promise<string | undefined> {
  return realpath(join(folder, 'objects')).catch(() => undefined);
}

/**
 * Returns the identifier of an installation, in hexadecimal. It is created with the database and restored with the
 * data.
 */
export async function systemOf(client: pg.Client | pg.Pool): Promise<string> {
  const { rows } = await client.query<{ system: string }>(
    "SELECT encode(sha256('system'::bytea || key), 'hex') AS system FROM nonce_key",
  );
  const [row] = rows;
  if (!row) throw new Error('The database has no installation key. Apply the migrations first.');
  return row.system;
}
