import type { Config } from '#platform/config/config.ts';
import { applyMigrations } from './migrations.ts';
import { findDatabase, reachable } from './prepare-database.ts';

/** Runs `npm run migrate`: applies pending migrations and prints their names. */
export async function migrateCommand(config: Config): Promise<void> {
  const url = await findDatabase(config);
  const applied = await reachable(url, () => applyMigrations(url, console.log));
  for (const name of applied) console.log(`Applied ${name}.`);
  if (applied.length === 0) console.log('The database is up to date.');
}
