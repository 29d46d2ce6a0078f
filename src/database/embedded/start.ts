import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { databaseUrl } from './database-url.ts';
import { EmbeddedDatabaseError } from './error.ts';
import { readKeeperState } from './keeper-state.ts';
import { openLog } from './log.ts';
import { type EmbeddedPaths, embeddedPaths } from './paths.ts';
import { hasUsers, registerUser } from './users.ts';

const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));
const POLL_MS = 25;
/** Keepers that end without a word before it counts as a failure. */
const ATTEMPTS = 5;

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
  try {
    mkdirSync(dataDir, { recursive: true });
    unregister = registerUser(paths.users);
    const port = await ready(paths);
    return {
      databaseUrl: databaseUrl(port, readFileSync(paths.secret, 'utf8').trim()),
      stop: async () => {
        unregister();
        await ended(paths);
      },
    };
  } catch (error) {
    unregister();
    if (error instanceof EmbeddedDatabaseError) throw error;
    throw new EmbeddedDatabaseError(
      `The embedded PostgreSQL cannot use ${dataDir}: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** @returns the server's port, once it accepts connections */
async function ready(paths: EmbeddedPaths): Promise<number> {
  let own: ChildProcess | undefined;
  for (let attempts = 0; ; await sleep(POLL_MS)) {
    const keeper = readKeeperState(paths);
    if (keeper?.alive) {
      if (keeper.phase === 'ready') return keeper.port;
      continue;
    }
    if (keeper?.phase === 'failed' && keeper.pid === own?.pid) throw new EmbeddedDatabaseError(keeper.reason);
    if (own && own.exitCode === null && own.signalCode === null) continue;
    if (attempts === ATTEMPTS) {
      throw new EmbeddedDatabaseError(`The embedded PostgreSQL's keeper does not start (see ${paths.log}).`);
    }
    attempts += 1;
    own = spawnKeeper(paths);
  }
}

function spawnKeeper(paths: EmbeddedPaths): ChildProcess {
  const log = openLog(paths.log);
  const keeper = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', KEEPER, paths.dataDir], {
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  keeper.unref();
  return keeper;
}

/** Resolves when no keeper runs, or one that somebody else needs. */
async function ended(paths: EmbeddedPaths): Promise<void> {
  for (;;) {
    const keeper = readKeeperState(paths);
    if (!keeper?.alive) return;
    if (keeper.phase !== 'stopping' && hasUsers(paths.users)) return;
    await sleep(POLL_MS);
  }
}
