import { MIGRATION_LIMITS } from '../../../src/platform/database/client.ts';
import { createDatabase, type Database } from '../../../src/platform/database/kysely.ts';
import { createPool } from '../../../src/platform/database/pool.ts';
import type { Bench } from './bench.ts';
import { filledDatabase } from './database.ts';

/** Those filled by this run: several tables may need the same one. */
const filled = new Map<string, Promise<string>>();

/**
 * The URL of a database that has been filled.
 *
 * @param content in the name of the database, after what `--keep` says
 * @param fill puts it into empty tables
 */
export function databaseWith(
  { databaseUrl, options, cleanup }: Bench,
  content: string,
  fill: (database: Database) => Promise<void>,
): Promise<string> {
  const name = `${options.keep ?? `inlet_bench_${process.pid}`}_${content}`;
  const url =
    filled.get(name) ??
    filledDatabase(databaseUrl, name, {
      keep: options.keep !== undefined,
      cleanup,
      fill: (url) => withDatabase(url, fill),
    });
  filled.set(name, url);
  return url;
}

async function withDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const pool = createPool(url, { limits: MIGRATION_LIMITS, onError: () => undefined });
  try {
    await work(createDatabase(pool));
  } finally {
    await pool.end();
  }
}
