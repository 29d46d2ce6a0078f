import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';

export interface DatabaseFacts {
  version: string;
  bytes: number;
  connections: number;
  mostConnections: number;
  /** Seconds since the oldest transaction began; null without one. */
  oldestTransaction: number | null;
}

/** Reads the version, the size and the connections of the database. */
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
