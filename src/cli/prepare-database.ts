import type { Config } from '#platform/config/config.ts';
import { startEmbedded } from '#platform/database/embedded/start-embedded.ts';
import { migrate, pendingMigrations } from '#platform/database/migrate.ts';
import { hostAndPort } from '#platform/outbound/endpoints.ts';
import { migrateQueue } from '#platform/queue/postgres.ts';
import { CommandError, connectionFailure } from './failure.ts';

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

/**
 * Returns the URL of the configured database, or starts the embedded one.
 */
export async function findDatabase(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<string> {
  return config.databaseUrl ?? (await startEmbedded(config.dataDir)).databaseUrl;
}

/**
 * Returns the URL of a database with all migrations. Only the embedded database is migrated, because several versions may
 * share a configured one.
 *
 * @throws {CommandError}
 */
export async function prepareDatabase(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<string> {
  const url = await findDatabase(config);
  if (config.databaseUrl === undefined) {
    await applyMigrations(url);
    return url;
  }
  const pending = await reachable(url, () => pendingMigrations(url));
  if (pending.length === 0) return url;
  throw new CommandError(`The database lacks migrations ${pending.join(', ')}. Run npm run migrate.`);
}

/** Adds the address of the database to errors. */
export async function reachable<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { hostname, port } = new URL(url);
    const where = hostAndPort(hostname || 'localhost', port || 5432);
    throw new CommandError(`The database at ${where} (DATABASE_URL) cannot be used: ${connectionFailure(error)}`, {
      cause: error,
    });
  }
}

/** Runs `npm run migrate`: applies pending migrations and prints their names. */
export async function migrateCommand(config: Config): Promise<void> {
  const url = await findDatabase(config);
  const applied = await reachable(url, () => applyMigrations(url, console.log));
  for (const name of applied) console.log(`Applied ${name}.`);
  if (applied.length === 0) console.log('The database is up to date.');
}
