import { sql } from 'kysely';
import type { Database } from '../../database/kysely.ts';

/** Counts go no further. */
const COUNTED = 100_000;

/** What the database says of the work, the same whichever process is asked. */
export interface ServiceFigures {
  /** By lane; what the relay has not looked at yet has none. */
  lanes: { lane: string | null; ready: number; oldest: number }[];
  running: { operation: string; count: number }[];
  workers: number;
  places: number;
  failed: number;
  /** Objects that wait to be removed. */
  removable: number;
  oldestRemovable: number;
  storage: { received: number; processed: number; unfinished: number } | null;
  webhooks: { pending: number; oldest: number; parked: number };
  databaseBytes: number;
}

/** Reads the figures. Each is a count that ends somewhere, over an index. */
export async function serviceFigures(database: Database): Promise<ServiceFigures> {
  const { rows } = await sql<ServiceFigures>`
    SELECT (SELECT coalesce(jsonb_agg(lanes), '[]') FROM (
        SELECT lane, count(*) AS ready, coalesce(extract(epoch FROM now() - min(since)), 0)::float8 AS oldest FROM (
          SELECT lane, greatest(ready_at, not_before) AS since FROM workflow_operations
          WHERE state = 'ready' AND not_before <= now() LIMIT ${COUNTED}
        ) AS waiting GROUP BY lane) AS lanes) AS lanes,
      (SELECT coalesce(jsonb_agg(running), '[]') FROM (
        SELECT operation, count(*) AS count FROM workflow_operations WHERE state = 'running' GROUP BY operation
      ) AS running) AS running,
      (SELECT count(*) FROM worker_processes WHERE seen_at > now() - interval '30 s') AS workers,
      (SELECT coalesce(sum(concurrency), 0) FROM worker_processes WHERE seen_at > now() - interval '30 s')::int AS places,
      (SELECT count(*) FROM (SELECT FROM workflows WHERE state = 'FAILED' LIMIT ${COUNTED}) AS failed) AS failed,
      (SELECT count(*) FROM (SELECT FROM staging WHERE expires_at < now() LIMIT ${COUNTED}) AS removable) AS removable,
      (SELECT coalesce(extract(epoch FROM now() - min(expires_at)), 0)::float8 FROM staging WHERE expires_at < now())
        AS "oldestRemovable",
      (SELECT to_jsonb(sizes) FROM (SELECT received, processed, unfinished FROM storage_sizes ORDER BY hour DESC LIMIT 1)
        AS sizes) AS storage,
      (SELECT jsonb_build_object('pending', coalesce(sum(of_one.pending), 0), 'parked', coalesce(sum(of_one.parked), 0),
          'oldest', coalesce(max(of_one.oldest), 0))
        FROM webhooks CROSS JOIN LATERAL (
          SELECT (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE webhook_id = webhooks.id AND state = 'pending'
              LIMIT ${COUNTED}) AS p) AS pending,
            (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE webhook_id = webhooks.id AND state = 'parked'
              LIMIT ${COUNTED}) AS p) AS parked,
            (SELECT extract(epoch FROM now() - min(next_at))::float8 FROM webhook_deliveries
              WHERE webhook_id = webhooks.id AND state = 'pending' AND next_at < now()) AS oldest
        ) AS of_one) AS webhooks,
      pg_database_size(current_database()) AS "databaseBytes"`.execute(database);
  return rows[0] as ServiceFigures;
}
