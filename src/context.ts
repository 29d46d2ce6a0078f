import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Config, ConfigError, describeConfig } from './config.ts';
import { createDatabase, type Database } from './database/kysely.ts';
import { createPool } from './database/pool.ts';
import { IdempotencyLedger } from './idempotency/ledger.ts';
import { type Catalogs, loadCatalogs } from './metadata/catalogs.ts';
import { createQueue } from './queue/create.ts';
import type { WorkQueue } from './queue/port.ts';
import { createStorage } from './storage/create.ts';
import type { ObjectStorage } from './storage/port.ts';
import { StagingLedger } from './storage/staging.ts';
import { createLogger, type Logger } from './telemetry.ts';

/** Adapters and services of one process. */
export interface Context {
  config: Config;
  /** Unique to this process, also after a restart. */
  processName: string;
  log: Logger;
  /** Which metadata there is. */
  catalogs: Catalogs;
  databaseUrl: string;
  database: Database;
  queue: WorkQueue;
  storage: ObjectStorage;
  staging: StagingLedger;
  idempotency: IdempotencyLedger;
  /** Releases everything in the reverse order. */
  close(): Promise<void>;
}

/**
 * Builds what the roles share. Tests hand in parts of their own.
 *
 * @throws {ConfigError} when there is no database to connect to
 */
export async function createContext(
  config: Config,
  role: 'api' | 'worker' | 'all',
  overrides: Partial<Pick<Context, 'log' | 'storage' | 'queue'>> = {},
): Promise<Context> {
  const { databaseUrl } = config;
  if (!databaseUrl)
    throw new ConfigError('DATABASE_URL is not set; start Inlet with npm start, which brings a database.');
  const processName = `${role}-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const log = overrides.log ?? createLogger(config.log);
  log.debug({ config: describeConfig(config) }, 'configuration');
  const catalogs = await loadCatalogs(config.metadataDir);
  const pool = createPool(databaseUrl, {
    max: 10 + config.workerConcurrency * 2,
    applicationName: `inlet ${role}`,
    onError: (error) => log.warn({ reason: error.message }, 'a database connection broke'),
  });
  const database = createDatabase(pool);
  const storage = overrides.storage ?? (await createStorage(config));
  const queue = overrides.queue ?? createQueue(config, databaseUrl, log);
  const staging = new StagingLedger({ database, storage, owner: processName, log });
  const idempotency = new IdempotencyLedger({ database, log });
  return {
    config,
    processName,
    log,
    catalogs,
    databaseUrl,
    database,
    queue,
    storage,
    staging,
    idempotency,
    close: async () => {
      idempotency.close();
      staging.close();
      await queue.close();
      await storage.close();
      await pool.end();
    },
  };
}
