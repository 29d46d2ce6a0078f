import { type Kysely, sql } from 'kysely';
import type { DB } from '#platform/database/schema.ts';

/**
 * Fills tables, which have their indexes again afterwards: to make these in one go takes far less time. Constraints that
 * look at other rows are checked for all rows at the end, too. Of one connection.
 */
export async function withoutIndexes(
  database: Kysely<DB>,
  tables: readonly (keyof DB)[],
  work: () => Promise<void>,
): Promise<void> {
  const { rows: constraints } = await sql<{ table: string; name: string; definition: string }>`
    SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE conrelid = ANY(${tables}::regclass[]) AND contype IN ('f', 'x')`.execute(database);
  const { rows: indexes } = await sql<{ name: string; definition: string }>`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid = ANY(${tables}::regclass[]) AND NOT indisunique AND NOT indisexclusion`.execute(database);
  const run = (statement: string) => sql.raw(statement).execute(database);
  for (const { table, name } of constraints) await run(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for (const { name } of indexes) await run(`DROP INDEX ${name}`);
  await work();
  for (const { definition } of indexes) await run(definition);
  for (const { table, name, definition } of constraints) {
    await run(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  }
}
