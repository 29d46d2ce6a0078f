import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from './manifest.ts';

/** What a folder of backups has, complete or not, and what a file system puts into its own. */
const OURS = /^(objects|manifest\.json(\.new)?|database-[0-9TZ]+|lost\+found)$/;

/** A folder cannot be that of a backup. */
export class NoPlaceForBackup extends Error {
  override name = 'NoPlaceForBackup';
}

/**
 * Refuses a folder in which a backup would replace or remove what is not its own.
 *
 * @param dataDir where a folder storage has its objects
 * @param system whose backup it is to be (`systemOf`)
 * @throws {NoPlaceForBackup}
 */
export async function requirePlace(
  folder: string,
  { dataDir, system }: { dataDir: string; system: string },
): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new NoPlaceForBackup(`${folder} cannot be the folder of a backup: ${error.message}`);
  });
  const [storage, objects] = await Promise.all([dataDir, folder].map(objectsOf));
  if (storage !== undefined && storage === objects)
    throw new NoPlaceForBackup(`${folder} is where Inlet has its objects; give another folder.`);
  const foreign = names.find((name) => !OURS.test(name));
  if (foreign !== undefined)
    throw new NoPlaceForBackup(
      `${folder} has "${foreign}", which is of no backup; give an empty folder, or that of an earlier backup.`,
    );
  const manifest = await readManifest(folder).catch((error) => {
    throw new NoPlaceForBackup(error.message);
  });
  if (manifest?.system !== undefined && manifest.system !== system)
    throw new NoPlaceForBackup(
      `${folder} has the backup of another database, which this one would replace; give another folder, or see whether DATABASE_URL is right.`,
    );
}

async function objectsOf(folder: string): Promise<string | undefined> {
  return realpath(join(folder, 'objects')).catch(() => undefined);
}
