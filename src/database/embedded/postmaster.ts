import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { workingDirectory } from './cluster.ts';
import { EmbeddedDatabaseError } from './error.ts';
import type { EmbeddedPaths } from './paths.ts';
import { type Postmaster, removeStalePostmasterFile, runningPostmaster } from './postmaster-file.ts';
import { isAlive } from './process-identity.ts';
import { lastComplaint, textSince } from './reason.ts';

const POLL_MS = 20;
/** Signals and how long each may take: fast shutdown, shutdown without a checkpoint, the end. */
const STOPS: [NodeJS.Signals, number][] = [
  ['SIGINT', 60_000],
  ['SIGQUIT', 10_000],
  ['SIGKILL', 10_000],
];

/** What it takes to start the server. */
export interface ServerSetup {
  paths: EmbeddedPaths;
  binaries: Binaries;
  account: Account | undefined;
  /** A file descriptor that the server's log is written to. */
  log: number;
}

/**
 * Starts the server and waits until it accepts connections, which takes a while after a crash.
 *
 * @throws {EmbeddedDatabaseError}
 */
export async function startPostmaster(setup: ServerSetup, port: number): Promise<Postmaster> {
  const { cluster, log } = setup.paths;
  removeStalePostmasterFile(cluster);
  const offset = fstatSync(setup.log).size;
  const server = spawn(setup.binaries.postgres, ['-D', workingDirectory(cluster), ...settings(port)], {
    ...setup.account,
    cwd: cluster,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', setup.log, setup.log],
  });
  let ended: string | undefined;
  server.on('error', (error) => {
    ended = error.message;
  });
  server.on('exit', () => {
    ended ??= lastComplaint(textSince(log, offset));
  });
  while (ended === undefined) {
    const running = runningPostmaster(cluster);
    if (running && running.process.pid === server.pid && running.status === 'ready') return running;
    await sleep(POLL_MS);
  }
  throw new EmbeddedDatabaseError(`The embedded PostgreSQL does not start: ${ended} (see ${log}).`);
}

function settings(port: number): string[] {
  return Object.entries({
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 100,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Stops a server, started by whomever, and waits until it is gone. */
export async function stopPostmaster(server: Postmaster): Promise<void> {
  for (const [signal, patience] of STOPS) {
    try {
      process.kill(server.process.pid, signal);
    } catch {
      return;
    }
    const deadline = Date.now() + patience;
    while (Date.now() < deadline) {
      if (!isAlive(server.process)) return;
      await sleep(POLL_MS);
    }
  }
}

/** A port of the loopback interface that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
