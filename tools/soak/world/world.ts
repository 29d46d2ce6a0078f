import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../../src/platform/database/embedded/start-embedded.ts';
import type { Database } from '../../../src/platform/database/kysely.ts';
import type { ObjectStorage } from '../../../src/platform/storage/object-storage.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { processesWith } from '../../../test/support/media.ts';
import { startProxyTo, type TestProxy } from '../../../test/support/proxy.ts';
import type { TestRedis } from '../../../test/support/redis.ts';
import type { TestS3 } from '../../../test/support/s3.ts';
import type { S3Between } from '../../../test/support/s3-between.ts';
import { createScratchDatabase } from '../../bench/setup/database.ts';
import type { Cleanup } from '../../bench/support/cleanup.ts';
import type { SoakOptions } from '../options.ts';
import { createClock, type SoakClock } from './clock.ts';
import { mountDisks } from './disks.ts';
import { openDatabase, openStorage } from './inside.ts';
import type { WorldKind } from './kinds.ts';
import { signalAll } from './pids.ts';
import { allowConnections, controlPostgres, type SoakPostgres } from './postgres.ts';
import { SoakProcess } from './process.ts';
import { addRedis, addS3 } from './services.ts';
import { misbehavingTools } from './tools.ts';
import { writeWorkflow } from './workflow.ts';

const READY_MS = 180_000;
const APIS = 2;
const WORKERS = 5;
/** Seen by one API and one worker; the others have the machine's. */
const CLOCK_OF = ['api 2', 'worker 5'];

/** The product and everything it depends on, with something to interrupt between them. */
export interface World {
  kind: WorldKind;
  /** The APIs. */
  urls: readonly string[];
  dataDir: string;
  /** Around the proxies, to look behind the API. */
  database: Database;
  storage: ObjectStorage;
  /** What configures a command of the product, around the proxies as well. */
  directEnv: Record<string, string>;
  processes: readonly SoakProcess[];
  proxies: { database: TestProxy; redis?: TestProxy; s3?: TestProxy };
  /** The processes of each service on this machine. */
  servers: { database: () => number[]; redis?: () => number[] };
  postgres: SoakPostgres;
  redis?: TestRedis;
  s3?: TestS3;
  /** Single requests to S3 pass here. */
  between?: S3Between;
  /** Undefined where nothing can change it. */
  clock: SoakClock | undefined;
  /** Those that are disks of their own. */
  disks: Record<string, string>;
  /** Waits until every API says that all parts answer. */
  ready(): Promise<void>;
}

export async function createWorld(
  kind: WorldKind,
  { logs }: Pick<SoakOptions, 'logs'>,
  cleanup: Cleanup,
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-soak-'));
  // The embedded server runs as another user.
  chmodSync(folder, 0o755);
  cleanup.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const disks = mountDisks(dataDir, cleanup);
  const tools = await misbehavingTools(folder);

  const postgresDir = join(folder, 'postgres');
  const server = await cleanup.own(startEmbedded(postgresDir));
  const postgres = controlPostgres(postgresDir);
  await allowConnections(server.databaseUrl, postgres);
  const databaseUrl = await createScratchDatabase(server.databaseUrl, postgresDir, cleanup);
  // Whatever a fault has done to it when the run is interrupted.
  cleanup.add(async () => {
    signalAll(postgres.pids(), 'SIGCONT');
    await postgres.start();
  });
  const through = await startProxyTo(databaseUrl);
  cleanup.add(through.proxy.stop);
  const common = { DATA_DIR: dataDir, WORKFLOWS_DIR: writeWorkflow(folder), ...tools };
  const caches = { DENO_DIR: join(folder, 'deno'), NODE_COMPILE_CACHE: join(folder, 'node') };
  const env: Record<string, string> = { ...common, ...caches, DATABASE_URL: through.url };
  const directEnv: Record<string, string> = { ...common, DATABASE_URL: databaseUrl };
  const services = {
    ...(kind.queue === 'redis' && (await addRedis(env, directEnv, cleanup))),
    ...(kind.storage === 's3' && (await addS3(env, directEnv, cleanup))),
  };
  const { proxies, servers, ...rest } = { proxies: {}, servers: {}, ...services };
  const storage = await openStorage(dataDir, services, cleanup);
  const clock = createClock(folder, CLOCK_OF.join(' and '));

  cleanup.add(() => signalAll(processesWith(dataDir), 'SIGKILL'));
  const ports = await Promise.all(Array.from({ length: APIS }, () => freePort()));
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const start = (role: 'api' | 'worker', number: number, more: Record<string, string> = {}) => {
    const name = `${role} ${number}`;
    const time = CLOCK_OF.includes(name) ? clock?.env : {};
    const all = { ...env, PUBLIC_URL: urls[0] ?? '', ...time, ...more };
    const own = logs && join(logs, kind.name.replaceAll(' ', '-'));
    const started = new SoakProcess(role, name, { runtime: kind.runtime, logs: own }, all);
    cleanup.add(() => started.end());
    return started;
  };
  const processes = [
    ...ports.map((port, i) => start('api', i + 1, { PORT: String(port) })),
    ...Array.from({ length: WORKERS }, (_, i) => start('worker', i + 1)),
  ];
  return {
    ...{ kind, urls, dataDir, storage, directEnv, processes, postgres, clock, disks, ...rest },
    database: openDatabase(databaseUrl, cleanup),
    proxies: { database: through.proxy, ...proxies },
    servers: { database: postgres.pids, ...servers },
    ready: async () => {
      for (const url of urls) await isReady(url);
    },
  };
}

async function isReady(url: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(10_000) });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`The API is not ready: ${text}`);
  }, READY_MS);
}
