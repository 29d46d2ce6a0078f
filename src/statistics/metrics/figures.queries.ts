import { type RawBuilder, sql } from 'kysely';
import { TEST_KIND } from '#notifications/webhooks/webhook-message.ts';
import type { Database } from '#platform/database/kysely.ts';
import { LANES } from '#platform/queue/work-queue.ts';

/** Upper limit of a count. */
const COUNTED = 100_000;
/** The lane of operations that the relay has not assigned yet. */
const UNASSIGNED = 'unassigned';

/** A value with its labels. */
export type Sample = [labels: Record<string, string>, value: number];
/** A metric and its samples. */
export interface Figure {
  name: string;
  help: string;
  samples: Sample[];
}

/** Queries for the figures of the service, in order of output. Each counts over an index, up to a limit. */
export const FIGURES = {
  async lanes(database: Database) {
    const { rows } = await sql<{ lane: string | null; ready: number; oldest: number }>`
      SELECT lane, count(*) AS ready,
        coalesce(extract(epoch FROM now() - min(since) FILTER (WHERE isfinite(since))), 0)::float8 AS oldest
      FROM (
        SELECT lane, greatest(ready_at, not_before) AS since FROM workflow_operations
        WHERE state = 'ready' AND not_before <= now() LIMIT ${COUNTED}
      ) AS waiting GROUP BY lane`.execute(database);
    const lanes = new Map(LANES.map((lane) => [lane as string, { ready: 0, oldest: 0 }]));
    for (const { lane, ...load } of rows) lanes.set(lane ?? UNASSIGNED, load);
    const each = (which: 'ready' | 'oldest') => [...lanes].map(([lane, load]): Sample => [{ lane }, load[which]]);
    return [
      { name: 'inlet_ready_operations', help: 'Operations ready to run, up to 100,000', samples: each('ready') },
      {
        name: 'inlet_oldest_ready_operation_seconds',
        help: 'Age of the oldest operation that is ready to run',
        samples: each('oldest'),
      },
    ];
  },

  async running(database: Database) {
    const { rows } = await sql<{ operation: string; count: number }>`
      SELECT operation, count(*) AS count FROM workflow_operations WHERE state = 'running' GROUP BY operation`.execute(
      database,
    );
    const samples = rows.map(({ operation, count }): Sample => [{ operation }, count]);
    return [{ name: 'inlet_running_operations', help: 'Operations in progress', samples }];
  },

  async workers(database: Database) {
    const { processes, places } = await one<'processes' | 'places'>(
      database,
      sql`SELECT count(*) AS processes, coalesce(sum(concurrency), 0)::int AS places
        FROM worker_processes WHERE seen_at > now() - interval '30 s'`,
    );
    return [
      figure('inlet_workers', 'Live processes with workers', processes),
      figure('inlet_worker_places', 'Operations of one lane that all workers together can run concurrently', places),
    ];
  },

  async failed(database: Database) {
    const { count } = await one<'count'>(
      database,
      sql`SELECT count(*) AS count FROM (SELECT FROM workflows WHERE state = 'FAILED' LIMIT ${COUNTED}) AS failed`,
    );
    return [figure('inlet_failed_workflows', 'Failed workflows that were not retried, up to 100,000', count)];
  },

  async removable(database: Database) {
    const { count, oldest } = await one<'count' | 'oldest'>(
      database,
      sql`SELECT (SELECT count(*) FROM (SELECT FROM staging WHERE expires_at < now() LIMIT ${COUNTED}) AS removable) AS count,
          (SELECT coalesce(extract(epoch FROM now() - min(expires_at)), 0)::float8 FROM staging
            WHERE expires_at < now() AND isfinite(expires_at)) AS oldest`,
    );
    return [
      figure('inlet_removable_objects', 'Objects that wait to be removed from the storage', count),
      figure('inlet_oldest_removable_object_seconds', 'Age of the oldest object that waits to be removed', oldest),
    ];
  },

  async storage(database: Database) {
    const { rows } = await sql<Record<'received' | 'processed' | 'unfinished', number>>`
      SELECT received, processed, unfinished FROM storage_sizes ORDER BY hour DESC LIMIT 1`.execute(database);
    const help = 'Bytes in the storage, measured every hour: received, processed, unfinished';
    const samples = Object.entries(rows[0] ?? {}).map(([kind, bytes]): Sample => [{ kind }, bytes]);
    return [{ name: 'inlet_stored_bytes', help, samples }];
  },

  /** Counts the messages of active webhooks, without test messages. */
  async webhooks(database: Database) {
    const ofOne = (state: string) => sql`SELECT created_at FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND state = ${state} AND kind <> ${TEST_KIND} ORDER BY id LIMIT ${COUNTED}`;
    const { pending, parked, oldest } = await one<'pending' | 'parked' | 'oldest'>(
      database,
      sql`SELECT coalesce(sum(pending), 0)::int AS pending, coalesce(sum(parked), 0)::int AS parked,
          coalesce(extract(epoch FROM now() - min(waiting.oldest)), 0)::float8 AS oldest
        FROM webhooks
        CROSS JOIN LATERAL (SELECT count(*) AS pending, min(created_at) AS oldest FROM (${ofOne('pending')}) AS p) AS waiting
        CROSS JOIN LATERAL (SELECT count(*) AS parked FROM (${ofOne('parked')}) AS p) AS given_up
        WHERE active`,
    );
    const samples: Sample[] = [
      [{ state: 'pending' }, pending],
      [{ state: 'parked' }, parked],
    ];
    const help = 'Undelivered messages of active webhooks: pending, or parked after the last retry';
    return [
      { name: 'inlet_webhook_messages', help, samples },
      figure('inlet_oldest_webhook_message_seconds', 'Age of the oldest pending message of active webhooks', oldest),
    ];
  },

  /** Items of imports that were active in the last hour. */
  async imports(database: Database) {
    const { rows } = await sql<{ kind: string; state: string; count: number }>`
      SELECT kind, state, count(*)::integer AS count FROM import_sources AS s JOIN import_items ON source_id = s.id
      WHERE active_at > now() - interval '1 hour' GROUP BY kind, state ORDER BY kind, state`.execute(database);
    const samples = rows.map(({ count, ...labels }): Sample => [labels, count]);
    return [{ name: 'inlet_import_items', help: 'Items of running imports, by kind and state', samples }];
  },

  /** Runs last, because it looks at every file of the database. */
  async databaseBytes(database: Database) {
    const { bytes } = await one<'bytes'>(database, sql`SELECT pg_database_size(current_database()) AS bytes`);
    return [figure('inlet_database_bytes', 'Size of the database', bytes)];
  },
} satisfies Record<string, (database: Database) => Promise<Figure[]>>;

/** Returns a metric without labels. */
export function figure(name: string, help: string, value: number): Figure {
  return { name, help, samples: [[{}, value]] };
}

async function one<Column extends string>(
  database: Database,
  query: RawBuilder<unknown>,
): Promise<Record<Column, number>> {
  const { rows } = await query.execute(database);
  return rows[0] as Record<Column, number>;
}
