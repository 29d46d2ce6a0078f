import { migrate } from '#platform/database/migrate.ts';
import { migrateQueue } from '#platform/queue/postgres.ts';

/**
 * Migrates Inlet's tables and those of the queue, which exist even if Redis is used.
 *
 * @param onWait runs with the reason when a migration has to wait
 * @returns the names of the applied files of `sql/`
 */
export async function applyMigrations(databaseUrl: string, onWait?: (reason: string) => void): Promise<string[]> {
  const applied = await migrate(databaseUrl, undefined, undefined, onWait);
  await migrateQueue(databaseUrl);
  return applied;
}
