import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { Runtime } from '#cli/role.ts';
import type { Database } from '#platform/database/kysely.ts';
import { folderPlace } from '#platform/storage/folder.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { createTestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { processesWith } from './media.ts';
import { startProxyTo, type TestProxy } from './proxy.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { RoleProcess, type Started } from './role-process.ts';
import { startS3, type TestS3 } from './s3.ts';
import { bucketStorage } from './storages.ts';

/** What a server is made of. Without more it is the embedded configuration: PostgreSQL and a folder. */
export interface ServerOptions {
  runtime: Runtime;
  /** `['main']` is everything in one process. */
  roles?: readonly Started[];
  redis?: boolean;
  s3?: boolean;
  /** Reaches its database through something that a test can interrupt. */
  proxy?: boolean;
  env?: Record<string, string>;
  /** An open file that takes the logs instead of the processes' `output`. */
  logFile?: number;
  /** Runs on the data folder before the server does. @returns what puts it right again */
  prepare?(dataDir: string): Promise<() => Promise<unknown>>;
}

/** The product as its users meet it: processes, reached over HTTP, with a database and a folder of their own. */
export interface TestServer {
  url: string;
  databaseUrl: string;
  /** To look behind the API. */
  database: Database;
  storage: ObjectStorage;
  dataDir: string;
  /** Fails when the server was started without it. */
  redis: TestRedis;
  s3: TestS3;
  proxy: TestProxy;
  /** Fails for a role that was not started. */
  process(role: Started): RoleProcess;
  processes: readonly RoleProcess[];
  /** The process that answers requests. */
  api: RoleProcess;
  /** Waits until every part of it answers. */
  ready(): Promise<void>;
  /** Ends everything at once and removes what it wrote. */
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const LOG_TAIL = 8_000;

export async function startServer(options: ServerOptions): Promise<TestServer> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await assemble(options, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(
  options: ServerOptions,
  undo: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<TestServer> {
  const { runtime, roles = ['main'], env = {} } = options;
  const database = await createTestDatabase();
  undo.push(database.close);
  const through = options.proxy ? await startProxyTo(database.url) : undefined;
  if (through) undo.push(through.proxy.stop);
  const dataDir = await mkdtemp(join(tmpdir(), 'inlet-server-'));
  undo.push(() => rm(dataDir, { recursive: true, force: true }));
  if (options.prepare) undo.push(await options.prepare(dataDir));
  const redis = options.redis ? await startRedis() : undefined;
  if (redis) undo.push(redis.stop);
  const s3 = options.s3 ? await startS3() : undefined;
  if (s3) undo.push(s3.stop);
  const storage = s3 ? await bucketStorage(s3.env) : await folderPlace(dataDir).open();
  undo.push(() => storage.close());

  const port = await freePort();
  const environment = {
    DATA_DIR: dataDir,
    DATABASE_URL: through?.url ?? database.url,
    PORT: String(port),
    ...(redis && { REDIS_URL: redis.url }),
    ...s3?.env,
    ...env,
  };
  const processes = roles.map((role) => new RoleProcess(role, runtime, environment, options.logFile));
  const byRole = (role: Started) =>
    required(
      `a process ${role}`,
      processes.find((each) => each.role === role),
    );
  const api = processes.find(({ role }) => role !== 'worker') ?? byRole('worker');
  const url = `http://127.0.0.1:${port}`;
  undo.push(() => endTools(dataDir));
  for (const each of processes) {
    undo.push(() => each.kill());
    each.start();
  }
  const server: TestServer = {
    url,
    databaseUrl: database.url,
    database: database.database,
    storage,
    dataDir,
    get redis() {
      return required('Redis', redis);
    },
    get s3() {
      return required('S3', s3);
    },
    get proxy() {
      return required('a proxy', through?.proxy);
    },
    process: byRole,
    processes,
    api,
    ready: () => isReady(url, api),
    stop,
  };
  await server.ready();
  return server;
}

async function isReady(url: string, api: RoleProcess): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${url}/health/ready`).catch((error: Error) => error);
    if (!(answer instanceof Error) && answer.status === 200) return;
    throw new Error(`The ${api.role} is not ready: ${answer}\n${api.output.slice(-LOG_TAIL)}`);
  }, READY_MS);
}

/** Killed workers leave the tools they ran behind; these tell by their arguments whose they are. */
async function endTools(dataDir: string): Promise<void> {
  for (const pid of processesWith(dataDir)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended by itself.
    }
  }
}

function required<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new Error(`The server was started without ${what}.`);
  return value;
}

/** A server for one test: ended with it, and its logs shown when it fails. */
export async function startServerFor(test: TestContext, options: ServerOptions): Promise<TestServer> {
  const server = await startServer(options);
  test.onTestFinished(server.stop);
  showLogsOnFailure(test, server);
  return server;
}

/** Prints the end of the server's logs when the test fails; for `beforeEach`. */
export function showLogsOnFailure(test: TestContext, server: TestServer): void {
  test.onTestFailed(() => {
    for (const { role, output } of server.processes) console.error(`--- ${role}\n${output.slice(-LOG_TAIL)}`);
  });
}
