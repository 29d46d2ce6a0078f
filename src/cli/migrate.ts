import type { Config } from '#platform/config/config.ts';
import { applyMigrations } from './migrations.ts';
import { findDatabase, reachable } from './prepare-database.ts';

/** `npm run migrate`: brings the database up to date and says what that took. */
export async function migrateCommand(config: Config): Promise<void> {
  const url = await findDatabase(config);
  const applied = await reachable(url, () => applyMigrations(url, console.log));
  for (const name of applied) console.log(`Applied ${name}.`);
  if (applied.length === 0) console.log('The database is up to date.');
}
