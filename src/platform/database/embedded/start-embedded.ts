import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EmbeddedDatabaseError, type EmbeddedPaths, embeddedPaths } from './embedded-paths.ts';
import { isLocked, withLock } from './file-lock.ts';
import { databaseUrl, startServer, stopUnused } from './postgres-server.ts';
import { register, registered } from './process-register.ts';
import { openLog } from './programs.ts';

const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));
const POLL_MS = 50;
/** A keeper whose starter was killed before registering it exits within this time. */
const PATIENCE_MS = 5_000;

/**
 * Runs the embedded PostgreSQL of a data folder while this process lives, also after an execve. Concurrent processes
 * share one server. Needs Node.
 *
 * @param dataDir an absolute path; created when missing
 * @returns the URL of Inlet's database, with the password, and a function that stops using the server: it waits until
 *   the server has stopped, unless other processes use it
 * @throws {EmbeddedDatabaseError}
 */
export async function startEmbedded(dataDir: string) {
  const paths = embeddedPaths(dataDir);
  let unregister: (() => void) | undefined;
  const stop = async () => {
    unregister?.();
    await withLock(paths.lock, () => stopUnused(paths));
  };
  try {
    mkdirSync(dataDir, { recursive: true });
    const port = await withoutForeignKeeper(paths, async () => {
      unregister = register(paths.users);
      // The keeper comes first: it stops the server wherever this process is killed.
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
 * Runs the work under the lock, unless another container keeps the server: PostgreSQL detects a second server on its
 * cluster only by its process ID. Nothing may be registered before: entries of another container look dead here.
 */
async function withoutForeignKeeper<T>(paths: EmbeddedPaths, work: () => Promise<T>): Promise<T> {
  const othersKeep = () => isLocked(paths.kept) && registered(paths.keepers).length === 0;
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const done = await withLock(paths.lock, async () => (othersKeep() ? undefined : { value: await work() }));
    if (done) return done.value;
    if (Date.now() > deadline) throw new Error('another container uses it');
    // Outside the lock: a keeper that is not registered needs it to exit.
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
    if (registered(paths.keepers).length === 0) throw new Error('its keeper process has exited');
    await sleep(POLL_MS);
  }
}
