import pg from 'pg';
import { applyMigrations } from '../../../src/cli/prepare-database.ts';
import { startEmbedded } from '../../../src/platform/database/embedded/start-embedded.ts';
import { pendingMigrations } from '../../../src/platform/database/migrate.ts';
import type { Cleanup } from '../support/cleanup.ts';

/** Says of a database that it is complete. */
const FILLED = 'filled for the benchmark';

/**
 * A new database with all tables, beside the configured one, which itself is not touched; on the embedded server
 * when none is configured.
 *
 * @param folder for the embedded server's data
 * @returns its URL
 */
export async function createScratchDatabase(
  configured: string | undefined,
  folder: string,
  cleanup: Cleanup,
): Promise<string> {
  const server = configured ?? (await cleanup.own(startEmbedded(folder))).databaseUrl;
  const name = `inlet_bench_${process.pid}`;
  await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await onServer(server, `CREATE DATABASE ${name}`);
  cleanup.add(async () => void (await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`)));
  const url = new URL(server);
  url.pathname = `/${name}`;
  await applyMigrations(url.toString());
  return url.toString();
}

/** What the server says it is. */
export async function serverVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return rows[0]?.server_version ?? 'unknown';
  } finally {
    await client.end();
  }
}

/**
 * A database with all tables, filled, beside another one.
 *
 * @param keep whether one of an earlier run is used, unless its tables are outdated, and this one stays for later runs
 * @param fill puts something into a new one
 * @returns its URL
 */
export async function filledDatabase(
  server: string,
  name: string,
  { keep, cleanup, fill }: { keep: boolean; cleanup: Cleanup; fill: (url: string) => Promise<void> },
): Promise<string> {
  const url = new URL(server);
  url.pathname = `/${name}`;
  if (keep && (await isFilled(server, name)) && (await pendingMigrations(url.toString())).length === 0) {
    return url.toString();
  }
  await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await onServer(server, `CREATE DATABASE ${name}`);
  if (!keep) cleanup.add(async () => void (await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`)));
  await applyMigrations(url.toString());
  await fill(url.toString());
  await onServer(server, `COMMENT ON DATABASE ${name} IS '${FILLED}'`);
  return url.toString();
}

async function isFilled(server: string, name: string): Promise<boolean> {
  const rows = await onServer(
    server,
    `SELECT FROM pg_database WHERE datname = '${name}' AND shobj_description(oid, 'pg_database') = '${FILLED}'`,
  );
  return rows.length > 0;
}

async function onServer(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
