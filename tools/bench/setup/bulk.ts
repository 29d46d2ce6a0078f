import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../src/platform/database/schema.ts';
import { withoutIndexes } from '../../../test/support/without-indexes.ts';

/** Fills tables without their indexes and triggers: what triggers derive is up to the work. */
export async function withoutIndexesAndTriggers(
  database: Kysely<DB>,
  tables: readonly (keyof DB)[],
  work: () => Promise<void>,
): Promise<void> {
  const switchTriggers = async (how: 'DISABLE' | 'ENABLE') => {
    for (const table of tables) await sql.raw(`ALTER TABLE ${table} ${how} TRIGGER USER`).execute(database);
  };
  await switchTriggers('DISABLE');
  await withoutIndexes(database, tables, work);
  await switchTriggers('ENABLE');
}
