import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/database/migrate.ts';
import { migrateQueue } from '../../src/queue/postgres.ts';
import { databaseUrl } from './database.ts';

/** One server and one migrated template database for the whole run. */
export default async function setup(project: TestProject) {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (!serverUrl) throw new Error('TEST_DATABASE_URL is not set.');
  const template = `template_${process.pid}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await migrate(databaseUrl(serverUrl, template));
  await migrateQueue(databaseUrl(serverUrl, template));
  project.provide('postgres', { serverUrl, template });
  return async () => {
    await client.query(`DROP DATABASE ${template} WITH (FORCE)`);
    await client.end();
  };
}
