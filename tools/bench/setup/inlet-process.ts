import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Role } from '../../../src/cli/role.ts';
import type { ApiAddress } from '../support/http-client.ts';
import type { Bench } from './bench.ts';

const LAUNCHER = fileURLToPath(new URL('../../../src/cli/launch.ts', import.meta.url));
const START_MS = 90_000;
const STOP_MS = 15_000;
const READY = { main: 'the worker is ready', api: 'the API is listening', worker: 'the worker is ready' };

/** A process of Inlet, started as `npm start`, `npm run api` and `npm run worker` start it. */
export interface InletProcess {
  /** The process that does the work itself: the launcher becomes it. */
  pid: number;
  api: ApiAddress;
  stop(): Promise<void>;
}

let started = 0;

/** Starts a role and waits until it is ready. Its log goes to a file. */
export async function startInlet(
  bench: Bench,
  role: Role,
  variables: Record<string, string> = {},
  runtime = bench.runtime,
): Promise<InletProcess> {
  const port = await freePort();
  const logFile = join(bench.folder, `${role}-${++started}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [LAUNCHER, role, '--runtime', runtime], {
    env: { ...bench.env, PORT: String(port), LOG_LEVEL: 'info', LOG_FORMAT: 'json', ...variables },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const stop = bench.cleanup.add(() => end(child));
  try {
    await ready(child, logFile, READY[role]);
  } catch (error) {
    await stop();
    throw error;
  }
  const { username, password } = bench.config.admin;
  return { pid: child.pid ?? 0, api: { url: `http://127.0.0.1:${port}`, username, password }, stop };
}

/** Starts an API on a database, and connects to the same database past it. */
export async function startInletOn(bench: Bench, url: string): Promise<{ api: ApiAddress; client: pg.Client }> {
  const { api } = await startInlet(bench, 'api', { DATABASE_URL: url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  bench.cleanup.add(() => client.end().catch(() => undefined));
  return { api, client };
}

async function ready(child: ChildProcess, logFile: string, sign: string): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!readFileSync(logFile, 'utf8').includes(sign)) {
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (ended || performance.now() > deadline) {
      throw new Error(`Inlet did not start:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
    }
    await sleep(25);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(patience);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port could be had.');
  return address.port;
}
