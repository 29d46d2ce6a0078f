import { sql } from 'kysely';
import { numberChanges } from '#changes/read-changes.ts';
import type { Database } from '#platform/database/kysely.ts';

/** Every row of some tables, as text, with the table it stands in. */
export type Snapshot = readonly string[];

const ALL_OF_INLET = `SELECT table_name AS name FROM information_schema.tables
  WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name`;

/** Every row that Inlet's tables hold; what the queue keeps is not among them. */
export async function snapshot(database: Database, except: readonly string[] = []): Promise<Snapshot> {
  // Readers of the log give its rows their numbers.
  await numberChanges(database);
  const { rows: tables } = await sql.raw<{ name: string }>(ALL_OF_INLET).execute(database);
  const wanted = tables.filter(({ name }) => !['changes_counter', ...except].includes(name));
  const contents = await Promise.all(
    wanted.map(async ({ name }) => {
      const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.table(name)} t`.execute(database);
      return rows.map(({ row }) => `${name}: ${row}`);
    }),
  );
  return contents.flat().sort();
}

/** The rows of an earlier snapshot that are gone or changed since. */
export function lost(before: Snapshot, after: Snapshot): string[] {
  const still = new Set(after);
  return before.filter((row) => !still.has(row));
}
