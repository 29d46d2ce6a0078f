import { sql } from 'kysely';
import { createDatabase } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import type { TestDatabase } from './database.ts';

/** A database as somebody sees it whose clock a test sets: functions that go before PostgreSQL's own tell the time. */
export async function withClock({ url, database }: Pick<TestDatabase, 'url' | 'database'>) {
  for (const statement of [
    'CREATE SCHEMA clock',
    "CREATE TABLE clock.ahead AS SELECT interval '0' AS by",
    ...['now', 'clock_timestamp'].map(
      (name) => `CREATE FUNCTION clock.${name}() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT pg_catalog.${name}() + by FROM clock.ahead'`,
    ),
  ])
    await sql.raw(statement).execute(database);
  const pool = createPool(url, { schema: 'clock,pg_catalog,public', onError: () => undefined });
  return {
    database: createDatabase(pool),
    /** Sets the clock by so many seconds; back, when they are negative. */
    step: async (seconds: number) =>
      void (await sql`UPDATE clock.ahead SET by = by + make_interval(secs => ${seconds})`.execute(database)),
    close: () => pool.end(),
  };
}
