import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedPaths } from './embedded-paths.ts';
import { lastPort, registered, runningPostmaster } from './process-register.ts';
import { run, serviceAccount } from './programs.ts';

/** The only role, and the name of its database. */
const ROLE = 'inlet';
const INITDB_OPTIONS = [
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
async function ensureCluster(paths: EmbeddedPaths): Promise<void> {
  const { cluster, secret, newCluster } = paths;
  rmSync(newCluster, { recursive: true, force: true, maxRetries: 10 });
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    if (!existsSync(secret)) {
      throw new Error(
        `${secret}, the password of ${cluster}, is missing; restore it, or remove both to create a new database`,
      );
    }
    if (statSync(cluster).uid === 0) changeOwner(cluster, paths);
    return;
  }
  const data = join(newCluster, 'data');
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    writeFileSync(join(newCluster, 'password'), ensurePassword(secret), { mode: 0o600 });
    changeOwner(newCluster, paths);
    await run(paths, data, ['initdb', '--pwfile=../password', '--no-instructions', '--no-sync', ...INITDB_OPTIONS]);
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
function changeOwner(folder: string, { cluster }: EmbeddedPaths): void {
  const account = serviceAccount(cluster);
  if (account) execFileSync('chown', ['-hR', `${account.uid}:${account.gid}`, folder]);
}

/** Leftovers of a crashed server may block the next one briefly, and a port may be in use. */
const ATTEMPTS = 5;
const PAUSE_MS = 500;
const POLL_MS = 10;
/** Below the ports of outgoing connections, so that none of those takes it while the server is down. */
const PORTS = [20_000, 32_000] as const;
/** After a crash the server first replays everything since its last checkpoint. */
const PATIENCE = '--timeout=86400';
const SETTINGS = '-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c log_checkpoints=off';

/** Starts the server, on its previous port if possible. Only for the holder of the lock. @returns its port */
export async function startServer(paths: EmbeddedPaths, attempt = 1): Promise<number> {
  // Programs of processes that were killed while they started or stopped the server.
  await waitForExit(paths.working);
  const running = runningPostmaster(paths.cluster);
  if (running?.ready) return running.port;
  await stopServer(paths);
  await ensureCluster(paths);
  // PostgreSQL trusts the file of a killed server when another process has its ID, or its zombie is left.
  rmSync(join(paths.cluster, 'postmaster.pid'), { force: true });
  const port = (attempt < ATTEMPTS && lastPort(paths.cluster)) || randomInt(...PORTS);
  try {
    await pgCtl(paths, ['start', PATIENCE, '-o', `${SETTINGS} -c port=${port}`]);
    return port;
  } catch (error) {
    if (attempt === ATTEMPTS) throw error;
    await sleep(PAUSE_MS);
    return startServer(paths, attempt + 1);
  }
}

/** Stops an unused server and its keepers. For the holder of the lock only. @returns false while it is in use */
export async function stopUnused(paths: EmbeddedPaths): Promise<boolean> {
  if (registered(paths.users).length > 0) return false;
  await waitForExit(paths.working);
  await stopServer(paths);
  // This process may be a keeper. Keepers do nothing without the lock, so killing them interrupts nothing.
  for (const pid of registered(paths.keepers)) process.kill(pid, 'SIGKILL');
  await waitForExit(paths.keepers);
  return true;
}

async function waitForExit(folder: string): Promise<void> {
  while (registered(folder).length > 0) await sleep(POLL_MS);
}

async function stopServer(paths: EmbeddedPaths): Promise<void> {
  if (runningPostmaster(paths.cluster)) await pgCtl(paths, ['stop', '--mode=fast']).catch(() => undefined);
  if (runningPostmaster(paths.cluster)) await pgCtl(paths, ['stop', '--mode=immediate']);
}

const pgCtl = (paths: EmbeddedPaths, args: string[]) => run(paths, paths.cluster, ['pg_ctl', '--silent', ...args]);
