import { resolve } from 'node:path';
import { type Manifest, readManifest } from '#maintenance/backup/manifest.ts';
import { CommandError } from '../failure.ts';
import { callersFolder } from '../terminal/callers-folder.ts';

/** The folder that a person named, and what the backup in it holds. @throws {CommandError} when there is none */
export async function backupIn(
  environment: NodeJS.ProcessEnv,
  named: string,
): Promise<{ folder: string; manifest: Manifest }> {
  const folder = resolve(callersFolder(environment), named);
  const manifest = await readManifest(folder).catch((error) => {
    throw new CommandError(error.message);
  });
  if (!manifest) throw new CommandError(`${folder} holds no complete backup.`);
  return { folder, manifest };
}
