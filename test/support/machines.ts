import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { createDatabase } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startRedis } from './redis.ts';
import { startReplicatedPostgres } from './replicated-postgres.ts';
import { RoleProcess } from './role-process.ts';
import { run } from './run.ts';
import { startS3 } from './s3.ts';
import { bucketStorage } from './storages.ts';

const READY_MS = 120_000;
const LOG_TAIL = 8_000;

export type Machines = Awaited<ReturnType<typeof startMachines>>;

/**
 * The product on several machines, as processes of this one: two APIs and two workers, one of each on Deno and on Node,
 * PostgreSQL with a standby behind an address that can move, Redis and S3.
 */
export async function startMachines(
  { onTestFinished, onTestFailed }: TestContext,
  { env = {} }: { env?: Record<string, string> } = {},
) {
  const postgres = await startReplicatedPostgres(onTestFinished);
  const s3 = await startS3();
  onTestFinished(s3.stop);
  const redis = await startRedis();
  onTestFinished(redis.stop);
  const environment = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...s3.env, ...env };
  const start = async (role: 'api' | 'worker', runtime: 'deno' | 'node') => {
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'inlet-machine-'));
    onTestFinished(() => rm(DATA_DIR, { recursive: true, force: true }));
    const port = await freePort();
    const process = new RoleProcess(role, runtime, { ...environment, DATA_DIR, PORT: String(port) });
    onTestFinished(() => process.kill());
    onTestFailed(() => console.error(`--- ${role} on ${runtime}\n${process.output.slice(-LOG_TAIL)}`));
    process.start();
    return { process, url: `http://127.0.0.1:${port}` };
  };
  const started = [
    start('api', 'deno'),
    start('api', 'node'),
    start('worker', 'deno'),
    start('worker', 'node'),
  ] as const;
  const [first, second, ...workers] = await Promise.all(started);
  for (const { url } of [first, second]) await eventually(() => checkReady(url), READY_MS);
  const pool = createPool(postgres.url, { onError: () => undefined });
  onTestFinished(() => pool.end());
  const storage = await bucketStorage(s3.env);
  onTestFinished(() => storage.close());
  return {
    postgres,
    redis,
    apis: [first, second] as const,
    workers: workers.map(({ process }) => process),
    database: createDatabase(pool),
    storage,
    /** Runs a command of an operator. */
    inlet: (...args: string[]) => run(process.execPath, ['src/cli/inlet.ts', ...args], environment),
  };
}

async function checkReady(url: string): Promise<void> {
  const { status } = await fetch(`${url}/health/ready`);
  if (status !== 200) throw new Error(`${url} is not ready: ${status}`);
}
