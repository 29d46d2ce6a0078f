import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../src/database/embedded/start.ts';
import { migrate } from '../../src/database/migrate.ts';
import { migrateQueue } from '../../src/queue/postgres.ts';
import { databaseUrl } from './database.ts';
import { startDebianPostgres } from './debian-postgres.ts';

/** One server and one migrated template database for the whole run. */
export default async function setup(project: TestProject) {
  const server = await findServer();
  const template = `template_${process.pid}`;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await migrate(databaseUrl(server.url, template));
  await migrateQueue(databaseUrl(server.url, template));
  project.provide('postgres', { serverUrl: server.url, template });
  return async () => {
    await client.query(`DROP DATABASE ${template} WITH (FORCE)`);
    await client.end();
    await server.stop();
  };
}

/** The server of TEST_DATABASE_URL, or Debian's; else the embedded one in a folder that is removed afterwards. */
async function findServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: async () => undefined };
  if (process.env.TEST_POSTGRES === 'debian') return startDebianPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'inlet-test-'));
  const server = await startEmbedded(folder);
  return {
    url: server.databaseUrl,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
