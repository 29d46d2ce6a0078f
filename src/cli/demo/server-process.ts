import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '#platform/config/config.ts';
import { CommandError } from '../failure.ts';
import type { Runtime } from '../role.ts';
import type { Interrupts } from '../terminal/interrupts.ts';

const POLL_MS = 100;
const LOG_LINES = 15;
const SPARE_MS = 10_000;

/** The server that the demo started. */
export interface ServerProcess {
  log: string;
  /** Aborts with the reason when the server ends by itself. */
  ended: AbortSignal;
  /** Asks the server to end and waits for it. */
  stop(): Promise<void>;
}

/**
 * Starts `npm start` and waits until it is ready. Its log goes to a file.
 *
 * @throws {CommandError} when it cannot be started, with the end of its log
 */
export async function startServer(
  config: Config,
  options: { runtime: Runtime; launcher: string; url: string; interrupts: Interrupts },
): Promise<ServerProcess> {
  const { interrupts } = options;
  mkdirSync(config.dataDir, { recursive: true });
  const log = join(config.dataDir, 'inlet.log');
  const file = openSync(log, 'w');
  // A process group of its own: Ctrl-C reaches the demo alone, which then ends the server in order.
  const child = spawn(process.execPath, [options.launcher, 'main', '--runtime', options.runtime], {
    detached: true,
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  // To the server this is its second signal.
  interrupts.hurry.addEventListener('abort', () => child.kill('SIGTERM'));
  const ended = new AbortController();
  child.on('error', (error) => ended.abort(new CommandError(`The server cannot be started: ${error.message}`)));
  child.on('exit', (code, signal) =>
    ended.abort(new CommandError(`The server ended (${signal ?? `exit code ${code}`}):\n${tail(log)}`)),
  );
  const server = { log, ended: ended.signal, stop: () => stop(child, config.shutdownMs + SPARE_MS) };
  try {
    await ready(options.url, AbortSignal.any([ended.signal, interrupts.stop]));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** Whoever has the port would answer in the server's place. @throws {CommandError} */
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
