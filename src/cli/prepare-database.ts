import type { Config } from '#platform/config/config.ts';
import { startEmbedded } from '#platform/database/embedded/start.ts';
import { pendingMigrations } from '#platform/database/migrate.ts';
import { hostAndPort } from '#platform/outbound/endpoints.ts';
import { CommandError, connectionFailure } from './failure.ts';
import { applyMigrations } from './migrations.ts';

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
  if (config.databaseUrl === undefined) await applyMigrations(url);
  else await refuseWhenPending(url);
  return url;
}

async function refuseWhenPending(url: string): Promise<void> {
  const pending = await reachable(url, () => pendingMigrations(url));
  if (pending.length > 0) {
    throw new CommandError(`The database lacks migrations ${pending.join(', ')}. Run npm run migrate.`);
  }
}

/** Adds the address of the database to errors. */
export async function reachable<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { hostname, port } = new URL(url);
    const where = hostAndPort(hostname || 'localhost', port || 5432);
    throw new CommandError(`The database at ${where} (DATABASE_URL) cannot be used: ${connectionFailure(error)}`);
  }
}
