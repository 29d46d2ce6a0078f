import { sql } from 'kysely';
import { TEST_KIND } from '#notifications/webhooks/message.ts';
import type { Database } from '#platform/database/kysely.ts';

/** Counts go no further. */
const COUNTED = 100_000;

/** How each figure is read that the database has of the work, the same whichever process asks: a count over an index that ends. */
export const FIGURES = {
  /** By lane; what the relay has not looked at yet has none. */
  async lanes(database: Database) {
    const { rows } = await sql<{ lane: string | null; ready: number; oldest: number }>`
      SELECT lane, count(*) AS ready,
        coalesce(extract(epoch FROM now() - min(since) FILTER (WHERE isfinite(since))), 0)::float8 AS oldest
      FROM (
        SELECT lane, greatest(ready_at, not_before) AS since FROM workflow_operations
        WHERE state = 'ready' AND not_before <= now() LIMIT ${COUNTED}
      ) AS waiting GROUP BY lane`.execute(database);
    return rows;
  },

  async running(database: Database) {
    const { rows } = await sql<{ operation: string; count: number }>`
      SELECT operation, count(*) AS count FROM workflow_operations WHERE state = 'running' GROUP BY operation`.execute(
      database,
    );
    return rows;
  },

  async workers(database: Database) {
    return one(
      await sql<{ processes: number; places: number }>`
        SELECT count(*) AS processes, coalesce(sum(concurrency), 0)::int AS places
        FROM worker_processes WHERE seen_at > now() - interval '30 s'`.execute(database),
    );
  },

  async failed(database: Database) {
    return one(
      await sql<{ count: number }>`
        SELECT count(*) AS count FROM (SELECT FROM workflows WHERE state = 'FAILED' LIMIT ${COUNTED}) AS failed`.execute(
        database,
      ),
    );
  },

  /** Objects that wait to be removed. */
  async removable(database: Database) {
    return one(
      await sql<{ count: number; oldest: number }>`
        SELECT (SELECT count(*) FROM (SELECT FROM staging WHERE expires_at < now() LIMIT ${COUNTED}) AS removable) AS count,
          (SELECT coalesce(extract(epoch FROM now() - min(expires_at)), 0)::float8 FROM staging
            WHERE expires_at < now() AND isfinite(expires_at)) AS oldest`.execute(database),
    );
  },

  /** None before they have been measured. */
  async storage(database: Database) {
    const { rows } = await sql<{ received: number; processed: number; unfinished: number }>`
      SELECT received, processed, unfinished FROM storage_sizes ORDER BY hour DESC LIMIT 1`.execute(database);
    return rows;
  },

  /** Of webhooks that are active; tests are no messages that somebody waits for. */
  async webhooks(database: Database) {
    const ofOne = (state: string) => sql`SELECT created_at FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND state = ${state} AND kind <> ${TEST_KIND} ORDER BY id LIMIT ${COUNTED}`;
    return one(
      await sql<{ pending: number; oldest: number; parked: number }>`
        SELECT coalesce(sum(pending), 0)::int AS pending, coalesce(sum(parked), 0)::int AS parked,
          coalesce(extract(epoch FROM now() - min(waiting.oldest)), 0)::float8 AS oldest
        FROM webhooks
        CROSS JOIN LATERAL (SELECT count(*) AS pending, min(created_at) AS oldest FROM (${ofOne('pending')}) AS p) AS waiting
        CROSS JOIN LATERAL (SELECT count(*) AS parked FROM (${ofOne('parked')}) AS p) AS given_up
        WHERE active`.execute(database),
    );
  },

  /** Looks at every file of the database, so last. */
  async databaseBytes(database: Database) {
    return one(await sql<{ bytes: number }>`SELECT pg_database_size(current_database()) AS bytes`.execute(database));
  },
};

/** What the database says of the work. */
export type ServiceFigures = {
  [Name in keyof typeof FIGURES]: Awaited<ReturnType<(typeof FIGURES)[Name]>>;
};

function one<Row>({ rows }: { rows: Row[] }): Row {
  return rows[0] as Row;
}
