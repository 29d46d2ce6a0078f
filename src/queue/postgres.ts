import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq';
import { createClient, MIGRATION } from '../database/limits.ts';
import { createPool } from '../database/pool.ts';
import type { Logger } from '../telemetry.ts';
import { withTimeout } from '../timeout.ts';
import type { BullBackend } from './bull.ts';

const SCHEMA = 'bullmq';
const CHECK_MS = 2_000;

/** BullMQ over PostgreSQL, in a schema of its own beside Inlet's tables. */
export function postgresBackend(databaseUrl: string, log: Logger): BullBackend {
  const pool = createPool(databaseUrl, {
    // Every consumer keeps one connection to listen on.
    max: 8,
    schema: SCHEMA,
    applicationName: 'inlet queue',
    onError: (error) => log.warn({ reason: error.message }, 'a queue connection broke'),
  });
  return {
    kind: 'postgres',
    queue: (name, options) =>
      new Queue(name, { ...options, connection: pool }, createPostgresBackend) as unknown as Queue,
    worker: (name, process, options) =>
      new Worker(name, process, { ...options, connection: pool }, createPostgresBackend) as unknown as Worker,
    check: async () => {
      await withTimeout(pool.query('SELECT 1'), CHECK_MS, 'The queue database does not answer.');
    },
    close: () => pool.end(),
  };
}

/** Creates or updates BullMQ's own tables. Several processes may call it at once. */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const client = createClient(databaseUrl, MIGRATION, 'inlet migrate');
  await client.connect();
  try {
    await runMigrations(client, SCHEMA);
  } finally {
    await client.end();
  }
}
