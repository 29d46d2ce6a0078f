import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureCluster } from './cluster.ts';
import type { EmbeddedPaths } from './paths.ts';
import { lastPort, registered, runningPostmaster } from './processes.ts';
import { run } from './programs.ts';

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
  await end(paths.working);
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

/**
 * Stops an unused server and its keepers. Only for the holder of the lock. @returns false while the server is in use
 */
export async function endUnused(paths: EmbeddedPaths): Promise<boolean> {
  if (registered(paths.users).length > 0) return false;
  await end(paths.working);
  await stopServer(paths);
  // This process may be a keeper. Keepers do nothing without the lock, so killing them interrupts nothing.
  for (const pid of registered(paths.keepers)) process.kill(pid, 'SIGKILL');
  await end(paths.keepers);
  return true;
}

/** Waits until the registered processes have exited. */
async function end(folder: string): Promise<void> {
  while (registered(folder).length > 0) await sleep(POLL_MS);
}

async function stopServer(paths: EmbeddedPaths): Promise<void> {
  if (runningPostmaster(paths.cluster)) await pgCtl(paths, ['stop', '--mode=fast']).catch(() => undefined);
  if (runningPostmaster(paths.cluster)) await pgCtl(paths, ['stop', '--mode=immediate']);
}

const pgCtl = (paths: EmbeddedPaths, args: string[]) => run(paths, paths.cluster, ['pg_ctl', '--silent', ...args]);
