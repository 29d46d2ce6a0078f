import { migrate } from '../database/migrate.ts';
import { migrateQueue } from '../queue/postgres.ts';

/**
 * Brings a database up to date: Inlet's own tables, and those of the queue, which are there also while Redis does
 * its work.
 *
 * @returns the names of the files of `sql/` that were applied
 */
export async function applyMigrations(databaseUrl: string): Promise<string[]> {
  const applied = await migrate(databaseUrl);
  await migrateQueue(databaseUrl);
  return applied;
}
