import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { databaseUrl } from './cluster.ts';
import { EmbeddedDatabaseError } from './error.ts';
import { isLocked, withLock } from './lock.ts';
import { type EmbeddedPaths, embeddedPaths } from './paths.ts';
import { register, registered } from './processes.ts';
import { openLog } from './programs.ts';
import { endUnused, startServer } from './server.ts';

const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));
const POLL_MS = 50;
/** A keeper whose starter was killed before it could enter it ends in less. */
const PATIENCE_MS = 5_000;

/** The embedded PostgreSQL, running. */
export interface EmbeddedServer {
  /** Inlet's database; holds the password. */
  databaseUrl: string;
  /** Takes this use back and waits until the server has ended, unless somebody else uses it. */
  stop(): Promise<void>;
}

/**
 * Makes the embedded PostgreSQL of a data folder run for as long as this process lives, also after an execve. Any
 * number of processes may do so at once; they share one server. Needs Node.
 *
 * @param dataDir an absolute path; made when absent
 * @throws {EmbeddedDatabaseError}
 */
export async function startEmbedded(dataDir: string): Promise<EmbeddedServer> {
  const paths = embeddedPaths(dataDir);
  let unregister: (() => void) | undefined;
  const stop = async () => {
    unregister?.();
    await withLock(paths.lock, () => endUnused(paths));
  };
  try {
    mkdirSync(dataDir, { recursive: true });
    const port = await unlessOthersKeep(paths, async () => {
      unregister = register(paths.users);
      // First, so that the server does not run on wherever this process is killed.
      await ensureKeeper(paths);
      return startServer(paths);
    });
    return { databaseUrl: databaseUrl(paths, port), stop };
  } catch (error) {
    if (unregister) await stop().catch(() => undefined);
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new EmbeddedDatabaseError(
      `The embedded PostgreSQL cannot run in ${dataDir}: ${reason}; set DATABASE_URL to use another server.`,
    );
  }
}

/**
 * Does the work with the lock, unless another container keeps the server. Two servers must never work on one cluster, and
 * PostgreSQL sees another one by the number of its process alone. Nor may anything be entered before: what is entered
 * there looks dead from here.
 */
async function unlessOthersKeep<T>(paths: EmbeddedPaths, work: () => Promise<T>): Promise<T> {
  const othersKeep = () => isLocked(paths.kept) && registered(paths.keepers).length === 0;
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const done = await withLock(paths.lock, async () => (othersKeep() ? undefined : { value: await work() }));
    if (done) return done.value;
    if (Date.now() > deadline) throw new Error('another container uses it');
    // Without the lock: a keeper that nobody entered needs it to end.
    await sleep(POLL_MS);
  }
}

async function ensureKeeper(paths: EmbeddedPaths): Promise<void> {
  if (registered(paths.keepers).length > 0) return;
  const log = openLog(paths);
  const keeper = spawn(process.execPath, [KEEPER, paths.dataDir], {
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: homedir() },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  await once(keeper, 'spawn');
  register(paths.keepers, keeper.pid);
  keeper.unref();
  while (!isLocked(paths.kept)) {
    if (registered(paths.keepers).length === 0) throw new Error('its keeper has ended');
    await sleep(POLL_MS);
  }
}
