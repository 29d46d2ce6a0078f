import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Runtime } from '../../../src/cli/role.ts';
import { type Config, loadConfig } from '../../../src/platform/config/config.ts';
import { createDatabase, type Database } from '../../../src/platform/database/kysely.ts';
import { createPool } from '../../../src/platform/database/pool.ts';
import type { ObjectStorage } from '../../../src/platform/storage/object-storage.ts';
import { startS3 } from '../../../test/support/s3.ts';
import type { BenchOptions } from '../options.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { createScratchDatabase, serverVersion } from './database.ts';
import { bringRedis, useRedis } from './redis.ts';

/** The configuration that is measured, ready to be used by processes of Inlet and by the benchmark itself. */
export interface Bench {
  options: BenchOptions;
  runtime: Runtime;
  /** Variables of the processes; DATA_DIR is `folder`. */
  env: NodeJS.ProcessEnv;
  config: Config;
  databaseUrl: string;
  /** The run's own folder, on the same disk as the configured data folder. */
  folder: string;
  database: Database;
  storage: ObjectStorage;
  /** Versions of the services, by name. */
  services: Record<string, string>;
  cleanup: Cleanup;
  /** Forgets all events and removes their objects. */
  reset(): Promise<void>;
}

export async function createBench(options: BenchOptions, cleanup: Cleanup): Promise<Bench> {
  const given = loadConfig(process.env);
  const folder = scratchFolder(given.dataDir, cleanup);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DATA_DIR: folder,
    DENO_DIR: join(folder, 'deno'),
    NODE_COMPILE_CACHE: join(folder, 'node'),
    HOST: '127.0.0.1',
    PUBLIC_URL: '',
  };
  if (options.s3) Object.assign(env, await bringS3(cleanup));
  const redis = options.redis ? await bringRedis(cleanup) : given.redisUrl && (await useRedis(given.redisUrl, cleanup));
  if (redis) env.REDIS_URL = redis.url;
  const configured = given.databaseUrl ?? (process.env.TEST_DATABASE_URL || undefined);
  const databaseUrl = await createScratchDatabase(configured, folder, cleanup);
  env.DATABASE_URL = databaseUrl;
  // The AWS SDK of this process reads them as those of Inlet do.
  Object.assign(process.env, env);
  const config = loadConfig(env);
  const pool = createPool(databaseUrl, { max: 16, onError: () => undefined });
  const database = createDatabase(pool);
  const storage = await config.storage.open(config.uploadMemoryBytes);
  const reset = () => forgetEvents(database, storage);
  cleanup.add(async () => {
    try {
      // The other storages are the run's own and go as a whole.
      if (process.env.S3_BUCKET && !options.s3) await reset();
    } finally {
      await pool.end();
      await storage.close();
    }
  });
  return {
    options,
    runtime: options.runtime,
    env,
    config,
    databaseUrl,
    folder,
    database,
    storage,
    services: {
      database: `PostgreSQL ${await serverVersion(databaseUrl)}${configured ? '' : ' (embedded)'}`,
      queue: redis ? `Redis ${redis.version}` : 'PostgreSQL (the same)',
      storage: env.S3_BUCKET ? `S3 at ${env.AWS_ENDPOINT_URL_S3 ?? 'AWS'}` : 'folder',
    },
    cleanup,
    reset,
  };
}

/** Below the configured folder: what is measured is its disk. */
function scratchFolder(dataDir: string, cleanup: Cleanup): string {
  mkdirSync(dataDir, { recursive: true });
  const folder = mkdtempSync(join(dataDir, 'bench-'));
  // The embedded server runs as another user.
  chmodSync(folder, 0o755);
  cleanup.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function bringS3(cleanup: Cleanup): Promise<Record<string, string>> {
  const { env } = await cleanup.own(startS3());
  return env;
}

/** Forgets all events of a database and removes their objects. */
export async function forgetEvents(database: Database, storage: Pick<ObjectStorage, 'remove'>): Promise<void> {
  const { rows } = await sql<{ object_key: string }>`
    SELECT object_key FROM tracks
    UNION SELECT object_key FROM publication_elements
    UNION SELECT object_key FROM attachments
    UNION SELECT object_key FROM draft_tracks
    UNION SELECT object_key FROM staging`.execute(database);
  await storage.remove(rows.map(({ object_key }) => object_key));
  await sql`TRUNCATE events, drafts, uploads, staging CASCADE`.execute(database);
}
