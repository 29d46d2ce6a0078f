import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { createClient, MIGRATION, USUAL } from './limits.ts';

/** Any number that no other user of the same database takes; it serialises concurrent migrations. */
const LOCK = 7_219_104_601;
const FOLDER = fileURLToPath(new URL('../../sql/', import.meta.url));
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

/**
 * Applies the files of `sql/` that the database has not seen, in order, each in a transaction of its own. Several
 * processes may call it at once: an advisory lock lets one work while the others wait.
 *
 * @param only the files to be applied, for tables of an earlier version
 * @returns the names of the files applied by this call
 */
export async function migrate(
  databaseUrl: string,
  folder = FOLDER,
  only?: readonly string[],
): Promise<string[]> {
  const client = createClient(databaseUrl, MIGRATION, 'inlet migrate');
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const pending = (await notApplied(client, folder, true)).filter((name) => only?.includes(name) ?? true);
    for (const name of pending) await applyFile(client, folder, name);
    return pending;
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

/** The names of the files of `sql/` that the database has not seen, in order. Changes nothing. */
export async function pendingMigrations(databaseUrl: string, folder = FOLDER): Promise<string[]> {
  const client = createClient(databaseUrl, USUAL, 'inlet migrate');
  await client.connect();
  try {
    const { rows } = await client.query<{ found: boolean }>(
      "SELECT to_regclass('schema_migrations') IS NOT NULL AS found",
    );
    return await notApplied(client, folder, rows[0]?.found ?? false);
  } finally {
    await client.end();
  }
}

/** The names of the files that the database has seen, in order. */
export async function appliedMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS found",
  );
  if (!rows[0]?.found) return [];
  const applied = await client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  return applied.rows.map(({ name }) => name);
}

/** The names of the files there are, in order. */
export async function allMigrations(folder = FOLDER): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort();
}

async function notApplied(client: pg.Client, folder: string, remembered: boolean): Promise<string[]> {
  const { rows } = remembered
    ? await client.query<{ name: string }>('SELECT name FROM schema_migrations')
    : { rows: [] };
  const applied = new Set(rows.map((row) => row.name));
  return (await allMigrations(folder)).filter((name) => !applied.has(name));
}

async function applyFile(client: pg.Client, folder: string, name: string): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(await readFile(`${folder}/${name}`, 'utf8'));
    await client.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}
