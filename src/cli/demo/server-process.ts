import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '#platform/config/config.ts';
import { localServer } from '../client/server.ts';
import { CommandError } from '../failure.ts';
import type { Runtime } from '../role.ts';
import type { Interrupts } from '../terminal/interrupts.ts';

const LAUNCHER = join(import.meta.dirname, '../launch.ts');
const POLL_MS = 100;
const LOG_LINES = 15;
const SPARE_MS = 10_000;

interface ServerProcess {
  log: string;
  /** Aborted with the reason when the server exits by itself. */
  exited: AbortSignal;
  stop(): Promise<void>;
}

/**
 * Starts `npm start` and waits until it is ready. Its log goes to a file.
 *
 * @throws {CommandError} with the end of its log if it cannot be started
 */
export async function startServer(config: Config, runtime: Runtime, interrupts: Interrupts): Promise<ServerProcess> {
  mkdirSync(config.dataDir, { recursive: true });
  const log = join(config.dataDir, 'inlet.log');
  const file = openSync(log, 'w');
  // In a separate process group, so that Ctrl-C reaches only the demo, which then stops the server.
  const child = spawn(process.execPath, [LAUNCHER, 'main', '--runtime', runtime], {
    detached: true,
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  // The second signal stops the server immediately.
  interrupts.hurry.addEventListener('abort', () => child.kill('SIGTERM'));
  const exited = new AbortController();
  child.on('error', (error) => exited.abort(new CommandError(`The server cannot be started: ${error.message}`)));
  child.on('exit', (code, signal) =>
    exited.abort(new CommandError(`The server exited (${signal ?? `exit code ${code}`}):\n${tail(log)}`)),
  );
  const server = { log, exited: exited.signal, stop: () => stop(child, config.shutdownMs + SPARE_MS) };
  try {
    await ready(localServer(config).url, AbortSignal.any([exited.signal, interrupts.stop]));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** Checks that no other process uses the port and would answer instead of the server. @throws {CommandError} */
export function requireFreePort({ host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CommandError(
          error.code === 'EADDRINUSE'
            ? `PORT ${port} is already in use; set PORT to a free one.`
            : `HOST ${host} with PORT ${port} cannot be used: ${error.message}`,
        ),
      ),
    );
    probe.listen(port, host.replace(/^\[|\]$/g, ''), () => probe.close(() => resolve()));
  });
}

async function ready(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const response = await fetch(`${url}/health/ready`, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await sleep(POLL_MS);
  }
}

function tail(log: string): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}

async function stop(child: ChildProcess, patienceMs: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const killer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  child.kill('SIGTERM');
  await gone;
  clearTimeout(killer);
}
