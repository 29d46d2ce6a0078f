import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder untouched for this long belongs to a worker that is gone. */
const ABANDONED_MS = 120_000;

/** An empty folder for one operation. */
export async function createWorkFolder(workDir: string, operationId: number): Promise<string> {
  await mkdir(workDir, { recursive: true });
  return mkdtemp(join(workDir, `${operationId}-`));
}

/** Shows that the folder is in use; called with every heartbeat. */
export async function touchWorkFolder(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
}

export async function removeWorkFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Removes the folders that killed workers left behind. */
export async function removeAbandonedFolders(workDir: string): Promise<void> {
  const names = await readdir(workDir).catch(() => []);
  for (const name of names) {
    const folder = join(workDir, name);
    const modified = (await stat(folder).catch(() => undefined))?.mtimeMs;
    if (modified !== undefined && Date.now() - modified > ABANDONED_MS) await removeWorkFolder(folder);
  }
}
