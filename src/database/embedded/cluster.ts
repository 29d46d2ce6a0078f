import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { ROLE } from './database-url.ts';
import { EmbeddedDatabaseError } from './error.ts';
import type { EmbeddedPaths } from './paths.ts';
import { lastComplaint } from './reason.ts';

const SETTINGS = [
  `--username=${ROLE}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // PostgreSQL's own: sorting must not depend on what this machine has installed.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/**
 * How a PostgreSQL program finds a folder: as its working directory, which it has entered before it became another
 * user. So the folder may lie below one that only root can enter.
 */
export const workingDirectory = (folder: string) =>
  process.platform === 'linux' ? '/proc/self/cwd' : folder;

/**
 * Makes the cluster when there is none yet; what an interrupted attempt left is removed.
 *
 * @throws {EmbeddedDatabaseError}
 */
export async function ensureCluster(
  paths: EmbeddedPaths,
  binaries: Binaries,
  account: Account | undefined,
): Promise<void> {
  removeRemains(paths);
  if (existsSync(join(paths.cluster, 'PG_VERSION'))) {
    if (!existsSync(paths.secret)) {
      throw new EmbeddedDatabaseError(
        `${paths.secret} is missing, which holds the password of the database in ${paths.cluster}; restore it, or remove both to begin anew.`,
      );
    }
    if (account && statSync(paths.cluster).uid === 0) giveTo(account, paths.cluster);
    return;
  }
  const folder = mkdtempSync(paths.newCluster);
  try {
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    writeFileSync(join(folder, 'password'), password(paths), { mode: 0o600 });
    if (account) giveTo(account, folder);
    await initialise(join(folder, 'data'), binaries, account);
    renameSync(join(folder, 'data'), paths.cluster);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The role's password, made on first use. */
export function password(paths: EmbeddedPaths): string {
  if (!existsSync(paths.secret)) {
    const temporary = `${paths.secret}.${process.pid}`;
    writeFileSync(temporary, randomBytes(24).toString('hex'), { mode: 0o600, flush: true });
    renameSync(temporary, paths.secret);
  }
  return readFileSync(paths.secret, 'utf8').trim();
}

function removeRemains(paths: EmbeddedPaths): void {
  for (const name of readdirSync(paths.dataDir)) {
    if (!name.startsWith(basename(paths.newCluster))) continue;
    try {
      rmSync(join(paths.dataDir, name), { recursive: true, force: true, maxRetries: 2 });
    } catch {
      // The initdb of a killed keeper may still be writing; the next start will remove it.
    }
  }
}

/** chown, with everything inside. */
function giveTo(account: Account, path: string): void {
  chownSync(path, account.uid, account.gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) giveTo(account, inner);
    else lchownSync(inner, account.uid, account.gid);
  }
}

/** @param folder empty; beside it lies a file with the password */
function initialise(folder: string, binaries: Binaries, account: Account | undefined): Promise<void> {
  const here = workingDirectory(folder);
  return new Promise((resolve, reject) => {
    const initdb = spawn(
      binaries.initdb,
      ['-D', here, `--pwfile=${here}/../password`, '--no-instructions', ...SETTINGS],
      {
        ...account,
        cwd: folder,
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let complaints = '';
    initdb.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints = (complaints + text).slice(-16_384);
    });
    const fail = (reason: string) =>
      reject(new EmbeddedDatabaseError(`The embedded database cannot be created: ${reason}`));
    initdb.on('error', (error) => fail(error.message));
    initdb.on('close', (code) => (code === 0 ? resolve() : fail(lastComplaint(complaints))));
  });
}
