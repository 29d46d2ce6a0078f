import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { readManifest } from './manifest.ts';

/** What a folder of backups has, complete or not, and what a file system puts into its own. */
const OURS = /^(objects|manifest\.json(\.new)?|database-[0-9TZ]+|lost\+found)$/;

/** A folder cannot be that of a backup. */
export class BackupFolderInUse extends Error {
  override name = 'BackupFolderInUse';
}

/**
 * Refuses a folder in which a backup would replace or remove what is not its own.
 *
 * @param dataDir where a folder storage has its objects
 * @param system whose backup it is to be (`systemOf`)
 * @throws {BackupFolderInUse}
 */
export async function requireBackupFolder(
  folder: string,
  { dataDir, system }: { dataDir: string; system: string },
): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new BackupFolderInUse(`${folder} cannot be the folder of a backup: ${error.message}`);
  });
  const [storage, objects] = await Promise.all([dataDir, folder].map(objectsOf));
  if (storage !== undefined && storage === objects)
    throw new BackupFolderInUse(`${folder} is where Inlet has its objects; give another folder.`);
  const foreign = names.find((name) => !OURS.test(name));
  if (foreign !== undefined)
    throw new BackupFolderInUse(
      `${folder} has "${foreign}", which is of no backup; give an empty folder, or that of an earlier backup.`,
    );
  const manifest = await readManifest(folder).catch((error) => {
    throw new BackupFolderInUse(error.message);
  });
  if (manifest?.system !== undefined && manifest.system !== system)
    throw new BackupFolderInUse(
      `${folder} has the backup of another database, which this one would replace; give another folder, or see whether DATABASE_URL is right.`,
    );
}

async function objectsOf(folder: string): Promise<string | undefined> {
  return realpath(join(folder, 'objects')).catch(() => undefined);
}

/**
 * Returns the identifier of an installation, in hexadecimal: random, made with its database and restored with its data.
 */
export async function systemOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ system: string }>(
    "SELECT encode(sha256('system'::bytea || key), 'hex') AS system FROM nonce_key",
  );
  const [row] = rows;
  if (!row) throw new Error('The database has no key of its own; migrations have not been applied.');
  return row.system;
}
