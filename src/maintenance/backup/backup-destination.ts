import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { readManifest } from './manifest.ts';

/** Names in a backup folder, complete or not, and the folder that file systems create. */
const OURS = /^(objects|manifest\.json(\.new)?|database-[0-9TZ]+|lost\+found)$/;

/** The folder cannot hold the backup. */
export class BackupFolderInUse extends Error {
  override name = 'BackupFolderInUse';
}

/**
 * Rejects a folder in which a backup would replace or remove other files.
 * | @param dataDir folder of the installation's objects
 * @param system identifier of the installation (`systemOf`)
 * @throws {BackupFolderInUse}
 */
export async function requireBackupFolder(
  folder: string,
  { dataDir, system }: { dataDir: string; system: string },
): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new BackupFolderInUse(`${folder} cannot be used as backup folder: ${error.message}`);
  });
  const [storage, objects] = await Promise.all([dataDir, folder].map(objectsOf));
  if (storage !== undefined && storage === objects)
    throw new BackupFolderInUse(`${folder} holds the objects of Inlet. Use another folder.`);
  const foreign = names.find((name) => !OURS.test(name));
  if (foreign !== undefined)
    throw new BackupFolderInUse(
      `${folder} contains "${foreign}", which is not part of a backup. Use an empty folder or the folder of an earlier backup.`,
    );
  const manifest = await readManifest(folder).catch((error) => {
    throw new BackupFolderInUse(error.message);
  });
  if (manifest?.system !== undefined && manifest.system !== system)
    throw new BackupFolderInUse(
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
export async function systemOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ system: string }>(
    "SELECT encode(sha256('system'::bytea || key), 'hex') AS system FROM nonce_key",
  );
  const [row] = rows;
  if (!row) throw new Error('The database has no installation key. Apply the migrations first.');
  return row.system;
}
