import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '#platform/database/kysely.ts';
import { removeWorkFolder } from './workspace.ts';

/** A folder untouched for this long belongs to a worker that is gone. */
const ABANDONED_MS = 120_000;

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
