import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

/** Counts go no further. */
export const COUNTED = 10_000;

/** How much there is to do in a lane. */
export interface LaneLoad {
  lane: string;
  /** Operations that could begin; `COUNTED + 1` for more. */
  ready: number;
  running: number;
  /** Since when the first of those that are ready waits. */
  oldest: Date | null;
}

/** How much there is to do, by lane. */
export async function laneLoads(database: Database, lanes: readonly string[]): Promise<LaneLoad[]> {
  const { rows } = await sql<LaneLoad>`
    SELECT given.lane, waiting.count AS ready, waiting.oldest,
      (SELECT count(*) FROM workflow_operations o WHERE o.state = 'running' AND o.lane = given.lane) AS running
    FROM unnest(${lanes}::text[]) WITH ORDINALITY AS given (lane, place) CROSS JOIN LATERAL (
      SELECT count(*) AS count, min(w.created_at) AS oldest FROM (
        SELECT workflow_id FROM workflow_operations o WHERE o.state = 'ready' AND o.lane = given.lane LIMIT ${COUNTED + 1}
      ) AS ready JOIN workflows w ON w.id = ready.workflow_id
    ) AS waiting ORDER BY place`.execute(database);
  return rows;
}

/** What the database says of itself. */
export interface DatabaseFacts {
  version: string;
  bytes: number;
  connections: number;
  mostConnections: number;
  /** Seconds since the oldest transaction began; null when there is none. */
  oldestTransaction: number | null;
}

export async function databaseFacts(database: Database): Promise<DatabaseFacts> {
  const { rows } = await sql<DatabaseFacts>`
    SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
      (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
      current_setting('max_connections')::integer AS "mostConnections",
      (SELECT extract(epoch FROM now() - min(xact_start))::float8 FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle') AS "oldestTransaction"`.execute(
    database,
  );
  return rows[0] as DatabaseFacts;
}
