import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { keepObjects } from '#platform/storage/removals.ts';
import type { Reading } from '../digests.ts';
import { copyObjects, type LackingObject, removeOthers } from './backup-objects.ts';
import { dumpDatabase, listedObjects } from './dump.ts';
import { databaseFolder, type Manifest, readManifest, writeManifest } from './manifest.ts';

/** What a backup is taken with. Each client is for it alone. */
export interface BackupParts {
  /** Reads the database. */
  client: pg.Client;
  /** Keeps objects from being removed meanwhile. */
  keeper: pg.Client;
  storage: Reading;
  /** Inlet's version. */
  version: string;
  /** Whose data it is (`systemOf`). */
  system: string;
  /** Whether what an earlier backup has is read as well. */
  digests: boolean;
  signal: AbortSignal;
  /** @param bytes of objects that are in the backup. @param all that there will be */
  onProgress(bytes: number, all: number): void;
}

/** Another backup is being taken. */
export class BackupUnderWay extends Error {
  override name = 'BackupUnderWay';
}

/**
 * Takes a backup while the system runs: the tables as they are at one moment, then the objects that they name, which are
 * not removed before the end, and be their events deleted. A folder that holds an earlier backup gets what is new; that
 * one counts until this one is complete.
 *
 * @returns what the backup holds, and which objects it lacks
 * @throws {BackupUnderWay}
 */
export async function takeBackup(
  folder: string,
  { client, keeper, storage, version, system, digests, signal, onProgress }: BackupParts,
): Promise<{ manifest: Omit<Manifest, 'format'>; lacking: LackingObject[] }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!(await keepObjects(keeper))) throw new BackupUnderWay('Another backup is being taken.');
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
  // The lock belongs to the connection: had that broken, objects may have been removed.
  await keeper.query('SELECT 1');
  const manifest = { taken: taken.toISOString(), version, system, database: name, ...dump };
  await writeManifest(folder, manifest);
  await removeDatabases(folder, name);
  await removeOthers(listedObjects(database), folder);
  return { manifest, lacking };
}

/** Removes the tables of other backups, complete or not: those of one that has no room would use up more each night. */
async function removeDatabases(folder: string, but: string | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('database-') && name !== but) await rm(join(folder, name), { recursive: true });
  }
}
