import {
  type BackendFactory,
  type ConnectionOptions,
  createPostgresBackend,
  Queue,
  type RedisQueueBackend,
  runMigrations,
} from 'bullmq';
import { createClient, MIGRATION, USUAL } from '../database/limits.ts';
import { createPool } from '../database/pool.ts';
import { withTimeout } from '../process/timeout.ts';
import type { Logger } from '../telemetry/log.ts';
import type { BullBackend } from './bull.ts';
import { WatchedWorker } from './worker.ts';

const SCHEMA = 'bullmq';
const CHECK_MS = 2_000;
/** Clocks differ; a lock is taken for much less, and the next look for stalled jobs is sooner. */
const MOST_AHEAD_MS = 120_000;
/** BullMQ writes times by the clock of each worker: until when a job is locked, and when stalled jobs were looked for. */
const FORGET_FUTURE = `
  WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms),
  looked AS (
    UPDATE meta SET value = now_ms::text FROM clock
    WHERE CASE field WHEN 'stalled-check' THEN value::bigint > now_ms + $1::integer END
  )
  UPDATE job SET locked_until_ms = now_ms FROM clock WHERE state = 'active' AND locked_until_ms > now_ms + $1::integer`;

/** BullMQ over PostgreSQL, in a schema of its own beside Inlet's tables. */
export function postgresBackend(databaseUrl: string, log: Logger): BullBackend {
  const pool = createPool(databaseUrl, {
    // Every consumer keeps one connection to listen on.
    max: 8,
    // All that BullMQ asks is answered in milliseconds.
    limits: { ...USUAL, statementMs: 10_000, silenceMs: 12_000 },
    schema: SCHEMA,
    applicationName: 'inlet queue',
    onError: (error) => log.warn({ reason: error.message }, 'a queue connection broke'),
  });
  return {
    kind: 'postgres',
    queue: (name, options) =>
      new Queue(name, { ...options, connection: pool }, createPostgresBackend) as unknown as Queue,
    worker: (name, process, options) =>
      new WatchedWorker(
        name,
        process,
        // What a worker is to its callers does not depend on the backend; its types do.
        { ...options, connection: pool as never },
        createPostgresBackend as unknown as BackendFactory<RedisQueueBackend, ConnectionOptions>,
      ),
    check: async () => {
      await withTimeout(pool.query('SELECT 1'), CHECK_MS, 'The queue database does not answer.');
    },
    forgetFuture: async () => {
      await pool.query(FORGET_FUTURE, [MOST_AHEAD_MS]);
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
