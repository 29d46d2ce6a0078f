import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { createPool } from '#platform/database/pool.ts';
import type { DB } from '#platform/database/schema.ts';

/** A database that keeps what it is asked. */
export interface LoggedDatabase {
  database: Kysely<DB>;
  /** For what is not to be kept. */
  pool: pg.Pool;
  /** Since the last `forget`. */
  queries: CompiledQuery[];
  forget(): void;
}

/** Over one connection unless given, which ends with `database.destroy()`. */
export function loggedDatabase(url: string, connections = 1): LoggedDatabase {
  const pool = createPool(url, { max: connections, onError: () => undefined });
  const queries: CompiledQuery[] = [];
  const log = ({ query }: { query: CompiledQuery }) => void queries.push(query);
  const database = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), log });
  return { database, pool, queries, forget: () => void queries.splice(0) };
}
