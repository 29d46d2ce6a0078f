import type pg from 'pg';

/** What is no part of the data: who is at work now, and browsers that are signed in. */
const LEFT_OUT = ['worker_processes', 'sessions'];
/** Known by other means. */
const MIGRATIONS = 'schema_migrations';

/** A table and what a copy of it has. */
export interface Table {
  name: string;
  /** Without those that the database computes. */
  columns: string[];
}

/** Inlet's tables in an order in which they can be filled: those that others refer to come first. */
export async function tablesInOrder(client: pg.Client): Promise<Table[]> {
  const { rows: tables } = await client.query<Table & { refers_to: string[] }>(
    `SELECT c.relname AS name,
       ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         AND a.attgenerated = '' ORDER BY a.attnum) AS columns,
       ARRAY(SELECT r.relname::text FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
         WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS refers_to
     FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
       AND c.relname <> ALL ($1) ORDER BY c.relname`,
    [[...LEFT_OUT, MIGRATIONS]],
  );
  const ordered: Table[] = [];
  const left = new Map(tables.map((table) => [table.name, table]));
  while (left.size > 0) {
    const next = [...left.values()].filter(({ refers_to }) => !refers_to.some((name) => left.has(name)));
    if (next.length === 0)
      throw new Error(`These tables refer to each other: ${[...left.keys()].join(', ')}.`);
    for (const { name, columns } of next) {
      ordered.push({ name, columns });
      left.delete(name);
    }
  }
  return ordered;
}

/** Tables that a copy leaves out, and that are empty after it. */
export async function tablesLeftOut(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [LEFT_OUT],
  );
  return rows.map(({ name }) => name);
}

/** The columns for a COPY. */
export function columnList({ columns }: Table): string {
  return columns.map((column) => `"${column}"`).join(', ');
}
