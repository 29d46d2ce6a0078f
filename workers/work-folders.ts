import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../src/database/kysely.ts';

/** A folder untouched for this long belongs to a worker that is gone. */
const ABANDONED_MS = 120_000;

/** The folder of an operation is not there any more: somebody has cleared up. */
export class WorkFolderGone extends Error {
  override name = 'WorkFolderGone';
  readonly ours = true;
  constructor(cause: unknown) {
    super('The working folder of the operation was removed.', { cause });
  }
}

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

/** @returns what an operation failed for: what it says of files that are gone says nothing of the recording */
export async function withoutFolder(folder: string, error: unknown): Promise<unknown> {
  return stat(folder).then(
    () => error,
    (missing) => (missing.code === 'ENOENT' ? new WorkFolderGone(error) : error),
  );
}

export async function removeWorkFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/**
 * Removes the folders that killed workers left behind. Of what is being worked on none goes, however old it looks: clocks
 * are set.
 */
export async function removeAbandonedFolders(database: Database, workDir: string): Promise<void> {
  const names = await untouched(workDir);
  if (names.length === 0) return;
  const running = await database
    .selectFrom('workflow_operations')
    .select('id')
    .where('state', '=', 'running')
    .where('id', 'in', names.map(operationOf))
    .execute();
  const inUse = new Set(running.map(({ id }) => id));
  for (const name of names) if (!inUse.has(operationOf(name))) await removeWorkFolder(join(workDir, name));
}

async function untouched(workDir: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of await readdir(workDir).catch(() => [])) {
    const modified = (await stat(join(workDir, name)).catch(() => undefined))?.mtimeMs;
    if (modified === undefined) continue;
    // One of the future was touched before the clock was set back.
    if (Math.abs(Date.now() - modified) > ABANDONED_MS) names.push(name);
  }
  return names;
}

/** The operation that a folder was made for; 0 for what is none of Inlet's. */
function operationOf(name: string): number {
  return Number(/^(\d{1,15})-/.exec(name)?.[1] ?? 0);
}
