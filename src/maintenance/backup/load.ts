import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { columnList, type Table, tableFile, tablesInOrder, tablesLeftOut } from './dump.ts';
import { BackupDamaged, unreadable } from './manifest.ts';

/**
 * Fills empty tables with those of a dump, all of them or none. Triggers rest meanwhile: what they would derive is in the
 * dump.
 *
 * @param options.rows how many each table has to have then
 * @param options.mayReplace is asked when nobody else can use the tables any more; throws when their rows have to stay
 * @throws when a table has others
 */
export async function loadDatabase(
  client: pg.Client,
  folder: string,
  {
    rows,
    mayReplace,
    signal,
  }: { rows: Readonly<Record<string, number>>; mayReplace: () => Promise<void>; signal: AbortSignal },
): Promise<void> {
  await client.query('BEGIN');
  try {
    const tables = await tablesInOrder(client);
    const names = tables.map(({ name }) => `"${name}"`);
    const all = [...names, ...(await tablesLeftOut(client))].join(', ');
    await client.query(`LOCK TABLE ${all} IN ACCESS EXCLUSIVE MODE`);
    await mayReplace();
    await client.query(`TRUNCATE ${all}`);
    for (const name of names) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
    for (const table of tables) await loadTable(client, table, folder, rows[table.name], signal);
    // Tables cannot be altered while a check of them is put off to the end.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const name of names) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
    for (const table of tables) await continueNumbers(client, table.name);
    await dropUnrestorable(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await client.query('ANALYZE');
}

async function loadTable(
  client: pg.Client,
  table: Table,
  folder: string,
  expected: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (expected === undefined) throw new BackupDamaged(`The backup has no table ${table.name}.`);
  const rows = client.query(copyFrom(`COPY "${table.name}" (${columnList(table)}) FROM STDIN`));
  const file = tableFile(folder, table.name);
  await pipeline(createReadStream(file), createGunzip(), rows, { signal }).catch((error) => {
    throw unreadable(file, error);
  });
  if (rows.rowCount !== expected) {
    throw new BackupDamaged(`The backup has ${rows.rowCount} rows of ${table.name} instead of ${expected}.`);
  }
}

/** Rows to come get numbers that none of these has. */
async function continueNumbers(client: pg.Client, table: string): Promise<void> {
  const { rows } = await client.query<{ column: string; sequence: string }>(
    `SELECT a.attname AS column, pg_get_serial_sequence(quote_ident($1), a.attname) AS sequence FROM pg_attribute a
     WHERE a.attrelid = quote_ident($1)::regclass AND a.attnum > 0 AND NOT a.attisdropped
       AND pg_get_serial_sequence(quote_ident($1), a.attname) IS NOT NULL`,
    [table],
  );
  for (const { column, sequence } of rows) {
    await client.query(`SELECT setval($1, coalesce(max("${column}"), 0) + 1, false) FROM "${table}"`, [sequence]);
  }
}

/** The pieces of an upload under way are no objects yet, and what is being stored belongs to processes that are gone. */
async function dropUnrestorable(client: pg.Client): Promise<void> {
  await client.query('DELETE FROM uploads WHERE completed_at IS NULL');
  await client.query(
    `DELETE FROM staging WHERE object_key NOT IN (SELECT object_key FROM draft_tracks
       UNION ALL SELECT object_key FROM draft_attachments UNION ALL SELECT object_key FROM uploads)`,
  );
}
