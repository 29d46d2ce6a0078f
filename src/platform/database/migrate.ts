import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { createClient, MIGRATION_LIMITS, REQUEST_LIMITS } from './client.ts';

/** An advisory lock that no other user of the database takes. It serializes concurrent migrations. */
const LOCK = 7_219_104_601;
/** While a migration waits for a lock on a table, later statements queue behind it; this limits the wait. */
const LOCK_MS = 2_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A migration fails after waiting this long for a lock; a backup takes less. */
const MAX_WAIT_MS = 3_600_000;
/** SQLSTATEs that are retried: lock not available, deadlock. */
const RETRIED_STATES = new Set(['55P03', '40P01']);
const FOLDER = fileURLToPath(new URL('../../../sql/', import.meta.url));
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

/**
 * Applies the pending files of `sql/` in order, each in its own transaction. Concurrent processes wait for each other.
 *
 * @param only the files to apply, for tables of an earlier version
 * @param onWait receives what a migration waits for
 * @returns the names of the files applied by this call
 */
export async function migrate(
  databaseUrl: string,
  folder = FOLDER,
  only?: readonly string[],
  onWait: (reason: string) => void = () => undefined,
): Promise<string[]> {
  const client = createClient(databaseUrl, MIGRATION_LIMITS, 'inlet migrate');
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const pending = (await listPending(client, folder)).filter((name) => only?.includes(name) ?? true);
    for (const name of pending) await applyWhenFree(client, folder, name, onWait);
    return pending;
  } finally {
    // Closing the session releases the lock.
    await client.end();
  }
}

/** Returns the names of the pending files of `sql/` in order. Changes nothing. */
export async function pendingMigrations(databaseUrl: string, folder = FOLDER): Promise<string[]> {
  const client = createClient(databaseUrl, REQUEST_LIMITS, 'inlet migrate');
  await client.connect();
  try {
    return await listPending(client, folder);
  } finally {
    await client.end();
  }
}

/** Returns the names of the applied files in order. */
export async function appliedMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS found",
  );
  if (!rows[0]?.found) return [];
  const applied = await client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  return applied.rows.map(({ name }) => name);
}

export async function allMigrations(folder = FOLDER): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort();
}

async function listPending(client: pg.Client, folder: string): Promise<string[]> {
  const applied = await appliedMigrations(client);
  return (await allMigrations(folder)).filter((name) => !applied.includes(name));
}

/** Applies a file; retries with growing pauses while other transactions hold the locks it needs. */
async function applyWhenFree(
  client: pg.Client,
  folder: string,
  name: string,
  onWait: (reason: string) => void,
): Promise<void> {
  const begun = performance.now();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      await applyFile(client, folder, name);
      return;
    } catch (error) {
      const isHeldUp = error instanceof Error && 'code' in error && RETRIED_STATES.has(String(error.code));
      if (!isHeldUp || performance.now() - begun > MAX_WAIT_MS) {
        throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      }
      const again = `Retrying in ${pause / 1000} s.`;
      onWait(`Migration ${name} waits for a lock${await oldestTransaction(client)}. ${again}`);
      await delay(pause);
    }
  }
}

async function applyFile(client: pg.Client, folder: string, name: string): Promise<void> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_MS}`);
    await client.query(await readFile(`${folder}/${name}`, 'utf8'));
    await client.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Returns the most likely holder of the lock; empty when this account may not see it. */
async function oldestTransaction(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string; seconds: number }>(`
    SELECT application_name AS name, floor(extract(epoch FROM now() - xact_start))::float8 AS seconds
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type = 'client backend' AND xact_start IS NOT NULL
    ORDER BY xact_start LIMIT 1`);
  const [oldest] = rows;
  if (!oldest) return '';
  return `; the oldest transaction, of "${oldest.name}", has been open for ${oldest.seconds} seconds`;
}
