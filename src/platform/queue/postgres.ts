import {
  type BackendFactory,
  type ConnectionOptions,
  createPostgresBackend,
  Queue,
  type RedisQueueBackend,
  runMigrations,
} from 'bullmq';
import { createClient, MIGRATION_LIMITS, REQUEST_LIMITS } from '../database/client.ts';
import { createPool } from '../database/pool.ts';
import { withTimeout } from '../process/timeout.ts';
import type { Logger } from '../telemetry/log.ts';
import type { BullBackend } from './bull.ts';
import { WatchedWorker } from './consumer.ts';

const SCHEMA = 'bullmq';
const CHECK_MS = 2_000;
/** Tolerates clock differences; locks and checks for stalled jobs are much shorter. */
const MOST_AHEAD_MS = 120_000;
/** BullMQ writes lock and check times by the clock of each worker. */
const FORGET_FUTURE = `
  WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms),
  looked AS (
    UPDATE meta SET value = now_ms::text FROM clock
    WHERE CASE field WHEN 'stalled-check' THEN value::bigint > now_ms + $1::integer END
  )
  UPDATE job SET locked_until_ms = now_ms FROM clock WHERE state = 'active' AND locked_until_ms > now_ms + $1::integer`;

export function postgresBackend(databaseUrl: string, log: Logger): BullBackend {
  const pool = createPool(databaseUrl, {
    // Every consumer keeps a connection for LISTEN.
    max: 8,
    // BullMQ's statements take milliseconds.
    limits: { ...REQUEST_LIMITS, statementMs: 10_000, silenceMs: 12_000 },
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
        // Only the types depend on the backend.
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

/** Creates or updates BullMQ's tables. Processes may call it concurrently. */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const client = createClient(databaseUrl, MIGRATION_LIMITS, 'inlet migrate');
  await client.connect();
  try {
    await runMigrations(client, SCHEMA);
  } finally {
    await client.end();
  }
}
