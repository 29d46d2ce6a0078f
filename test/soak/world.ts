import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import type { Role } from '../../src/cli/role.ts';
import { createDatabase, type Database } from '../../src/database/kysely.ts';
import { createPool } from '../../src/database/pool.ts';
import { locateTools } from '../../src/media/tools.ts';
import { createStorage } from '../../src/storage/create.ts';
import type { ObjectStorage } from '../../src/storage/port.ts';
import { createScratchDatabase } from '../bench/setup/database.ts';
import type { Cleanup } from '../bench/support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startProxy, startProxyTo, type TestProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import type { SoakOptions } from './options.ts';
import { SoakProcess } from './process.ts';
import { childrenOf, parentOf } from './vitals.ts';

const READY_MS = 120_000;
/** Enough for what is encoded at once, and little enough to be filled. */
const WORK_DISK = '192m';

/** The product and everything it depends on, with something to interrupt between them. */
export interface World {
  url: string;
  dataDir: string;
  /** Around the proxies, to look behind the API. */
  database: Database;
  storage: ObjectStorage;
  processes: readonly SoakProcess[];
  api: SoakProcess;
  workers: readonly SoakProcess[];
  proxies: { database: TestProxy; redis?: TestProxy; s3?: TestProxy };
  /** The processes of each service on this machine. */
  servers: { database: () => number[]; redis?: () => number[] };
  s3?: TestS3;
  /** The workers' folder, when it is a disk of its own. */
  workDisk: string | undefined;
  ready(): Promise<void>;
}

export async function createWorld(options: SoakOptions, cleanup: Cleanup): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-soak-'));
  // The embedded server runs as another user.
  chmodSync(folder, 0o755);
  cleanup.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const dataDir = join(folder, 'data');
  const workDisk = mountWorkDisk(join(dataDir, 'work'), cleanup);
  process.env.DENO_DIR = join(folder, 'deno');
  const tools = await locateTools({ ffmpegPath: undefined, ffprobePath: undefined }, '');
  Object.assign(process.env, { FFMPEG_PATH: tools.ffmpeg, FFPROBE_PATH: tools.ffprobe });

  const databaseUrl = await createScratchDatabase(undefined, join(folder, 'postgres'), cleanup);
  const database = openDatabase(databaseUrl, cleanup);
  const postmaster = parentOf(await backendPid(database));
  const throughDatabase = await startProxyTo(databaseUrl);
  cleanup.add(throughDatabase.proxy.stop);
  const env: Record<string, string> = { DATA_DIR: dataDir, DATABASE_URL: throughDatabase.url };
  const world: Pick<World, 'proxies' | 'servers' | 's3'> = {
    proxies: { database: throughDatabase.proxy },
    servers: { database: () => [postmaster, ...childrenOf(postmaster)] },
  };
  if (options.queue === 'redis') {
    const redis = await cleanup.own(startRedis());
    const through = await startProxyTo(redis.url);
    cleanup.add(through.proxy.stop);
    const pid = await redisPid(redis.url);
    env.REDIS_URL = through.url;
    world.proxies.redis = through.proxy;
    world.servers.redis = () => [pid];
  }
  if (options.storage === 's3') {
    const s3 = await cleanup.own(startS3());
    Object.assign(process.env, s3.env);
    const endpoint = new URL(s3.env.AWS_ENDPOINT_URL_S3 ?? '');
    const proxy = await startProxy(endpoint.hostname, Number(endpoint.port));
    cleanup.add(proxy.stop);
    Object.assign(env, s3.env, { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${proxy.port}` });
    world.proxies.s3 = proxy;
    world.s3 = s3;
  }
  const bucket = world.s3?.env.S3_BUCKET;
  const storage = await createStorage({ dataDir, s3: bucket ? { bucket, forcePathStyle: true } : undefined });
  cleanup.add(() => storage.close());

  env.PORT = String(await freePort());
  const url = `http://127.0.0.1:${env.PORT}`;
  const start = (role: Role, name: string) => {
    const started = new SoakProcess(role, name, options, env);
    cleanup.add(() => started.end());
    return started;
  };
  const api = start('api', 'api');
  const workers = [start('worker', 'worker 1'), start('worker', 'worker 2')];
  const ready = () => isReady(url);
  return {
    ...world,
    url,
    dataDir,
    database,
    storage,
    processes: [api, ...workers],
    api,
    workers,
    workDisk,
    ready,
  };
}

function openDatabase(url: string, cleanup: Cleanup): Database {
  const pool = createPool(url, { onError: () => undefined });
  cleanup.add(() => pool.end());
  return createDatabase(pool);
}

async function backendPid(database: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(database);
  return rows[0]?.pid ?? 0;
}

async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  const [, pid] = /process_id:(\d+)/.exec(await redis.info('server')) ?? [];
  redis.disconnect();
  return Number(pid);
}

/** Only root may mount, and not even root in most containers. */
function mountWorkDisk(folder: string, cleanup: Cleanup): string | undefined {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${WORK_DISK}`, 'inlet-soak', folder], {
      stdio: 'ignore',
    });
  } catch {
    return undefined;
  }
  cleanup.add(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

async function isReady(url: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(10_000) });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`The API is not ready: ${text}`);
  }, READY_MS);
}
