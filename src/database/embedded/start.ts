import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { databaseUrl } from './cluster.ts';
import { EmbeddedDatabaseError } from './error.ts';
import { withLock } from './lock.ts';
import { type EmbeddedPaths, embeddedPaths } from './paths.ts';
import { register, registered } from './processes.ts';
import { openLog } from './programs.ts';
import { endUnused, startServer } from './server.ts';

const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));

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
  let unregister = () => {};
  const stop = async () => {
    unregister();
    await withLock(paths.lock, () => endUnused(paths));
  };
  try {
    mkdirSync(dataDir, { recursive: true });
    unregister = register(paths.users);
    const port = await withLock(paths.lock, async () => {
      // First, so that the server does not run on wherever this process is killed.
      await ensureKeeper(paths);
      return startServer(paths);
    });
    return { databaseUrl: databaseUrl(paths, port), stop };
  } catch (error) {
    await stop().catch(() => undefined);
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new EmbeddedDatabaseError(
      `The embedded PostgreSQL cannot run in ${dataDir}: ${reason}; set DATABASE_URL to use another server.`,
    );
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
}
