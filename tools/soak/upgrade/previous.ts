import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Cleanup } from '../../bench/support/cleanup.ts';

export const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const MIGRATION = /^\d{4}_[a-z0-9_]+\.sql$/;

const git = async (...args: string[]) => (await promisify(execFile)('git', ['-C', PROJECT, ...args])).stdout.trim();

/** The names of the migrations of a tree, in order. */
export async function migrationsOf(tree: string): Promise<string[]> {
  return (await readdir(join(tree, 'sql'))).filter((name) => MIGRATION.test(name)).sort();
}

/** The commit before the one that brought the latest migration; undefined where the checkout has no history of it. */
export async function beforeLatestMigration(): Promise<string | undefined> {
  try {
    const latest = (await migrationsOf(PROJECT)).at(-1) ?? '';
    const added = await git('log', '--diff-filter=A', '--format=%H', '-1', '--', `sql/${latest}`);
    return added === '' ? undefined : await git('rev-parse', '--verify', '--quiet', `${added}^{commit}^`);
  } catch {
    return undefined;
  }
}

/** A commit in words. */
export const describeCommit = (ref: string) => git('log', '-1', '--format=%h of %as (%s)', ref);

/**
 * The files of a commit in a folder of their own, with the packages of this checkout.
 *
 * @returns the folder
 */
export async function extract(ref: string, cleanup: Cleanup): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-previous-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const tree = join(folder, 'inlet');
  mkdirSync(tree);
  const archive = spawn('git', ['-C', PROJECT, 'archive', ref], { stdio: ['ignore', 'pipe', 'inherit'] });
  const unpack = spawn('tar', ['-x', '-C', tree], { stdio: [archive.stdout, 'ignore', 'inherit'] });
  const [code] = await once(unpack, 'exit');
  if (code !== 0) throw new Error(`The files of ${ref} cannot be read.`);
  // Links cost nothing; they need the same file system.
  const copy = (...how: string[]) =>
    promisify(execFile)('cp', [...how, join(PROJECT, 'node_modules'), join(tree, 'node_modules')]);
  await copy('-al').catch(async () => {
    rmSync(join(tree, 'node_modules'), { recursive: true, force: true });
    await copy('-a');
  });
  return tree;
}
