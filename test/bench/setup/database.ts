import pg from 'pg';
import { applyMigrations } from '../../../src/cli/migrations.ts';
import { startEmbedded } from '../../../src/database/embedded/start.ts';
import type { Cleanup } from '../support/cleanup.ts';

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
  cleanup.add(() => onServer(server, `DROP DATABASE ${name} WITH (FORCE)`));
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

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
