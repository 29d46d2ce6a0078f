import { migrate } from '#platform/database/migrate.ts';
import { migrateQueue } from '#platform/queue/postgres.ts';

/**
 * Brings a database up to date: Inlet's own tables, and those of the queue, which are there also while Redis does
 * its work.
 *
 * @param onWait is told what a migration waits for
 * @returns the names of the files of `sql/` that were applied
 */
export async function applyMigrations(databaseUrl: string, onWait?: (reason: string) => void): Promise<string[]> {
  const applied = await migrate(databaseUrl, undefined, undefined, onWait);
  await migrateQueue(databaseUrl);
  return applied;
}
