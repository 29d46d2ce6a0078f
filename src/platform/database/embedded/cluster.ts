import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedPaths } from './paths.ts';
import { run, serviceAccount } from './programs.ts';

/** The only role, and the name of its database. */
const ROLE = 'inlet';
const SETTINGS = [
  `--username=${ROLE}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // PostgreSQL's own locale: the sort order must not depend on the locales of this machine.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];
const SINGLE_USER = ['postgres', '--single', '-c', 'exit_on_error=on', '-c', 'fsync=off', 'postgres'];

/** Creates the cluster with an empty database for Inlet, unless it exists. */
export async function ensureCluster(paths: EmbeddedPaths): Promise<void> {
  const { cluster, secret, newCluster } = paths;
  rmSync(newCluster, { recursive: true, force: true, maxRetries: 10 });
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    if (!existsSync(secret)) {
      throw new Error(
        `${secret}, the password of ${cluster}, is missing; restore it, or remove both to create a new database`,
      );
    }
    if (statSync(cluster).uid === 0) giveAway(cluster, paths);
    return;
  }
  const data = join(newCluster, 'data');
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    writeFileSync(join(newCluster, 'password'), ensurePassword(secret), { mode: 0o600 });
    giveAway(newCluster, paths);
    await run(paths, data, ['initdb', '--pwfile=../password', '--no-instructions', '--no-sync', ...SETTINGS]);
    await run(paths, data, SINGLE_USER, `CREATE DATABASE ${ROLE}`);
    await run(paths, data, ['initdb', '--sync-only']);
    renameSync(data, cluster);
  } finally {
    rmSync(newCluster, { recursive: true, force: true });
  }
}

/** Returns the URL of the database on a server that listens on the port. It contains the password. */
export function databaseUrl({ secret }: EmbeddedPaths, port: number): string {
  return `postgres://${ROLE}:${readFileSync(secret, 'utf8').trim()}@127.0.0.1:${port}/${ROLE}`;
}

function ensurePassword(secret: string): string {
  if (!existsSync(secret)) {
    writeFileSync(`${secret}.new`, randomBytes(24).toString('hex'), { mode: 0o600, flush: true });
    renameSync(`${secret}.new`, secret);
  }
  return readFileSync(secret, 'utf8');
}

/** Makes the service account the owner of a folder and everything in it. */
function giveAway(folder: string, { cluster }: EmbeddedPaths): void {
  const account = serviceAccount(cluster);
  if (account) execFileSync('chown', ['-hR', `${account.uid}:${account.gid}`, folder]);
}
