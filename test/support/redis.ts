import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';
import { killProcess } from './kill-process.ts';

/** A Redis server of its own that keeps nothing on disk. */
export interface TestRedis {
  url: string;
  /** Starts it again, empty, on the same port, whether it runs or not. */
  restart(): Promise<void>;
  /** Stopped, it keeps its connections and answers nothing. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): Promise<void>;
}

/**
 * Whether tests against Redis can run here. On a machine without `redis-server` they are skipped, but never in CI.
 *
 * @throws {Error} in CI, when `redis-server` is not there
 */
export async function redisAvailable(): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await access(join(folder, 'redis-server'), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  if (process.env.CI) throw new Error('redis-server is not on PATH; in CI its tests may not be skipped.');
  return false;
}

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  let server = await launch(port);
  const stop = () => killProcess(server);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop,
    signal: (signal) => void server.kill(signal),
    restart: async () => {
      await stop();
      server = await launch(port);
    },
  };
}

async function launch(port: number): Promise<ChildProcess> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', [...options, '--dir', tmpdir(), '--maxmemory-policy', 'noeviction'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const failed = once(server, 'error').then(([error]) => Promise.reject(error));
  const lines = createInterface(server.stdout);
  const ready = (async () => {
    for await (const line of lines) if (line.includes('Ready to accept connections')) return;
    throw new Error('redis-server did not start.');
  })();
  await Promise.race([ready, failed]);
  server.stdout.resume();
  return server;
}
