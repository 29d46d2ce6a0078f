import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '#platform/database/embedded/start.ts';

/** An empty database, gone afterwards: on the server of TEST_DATABASE_URL where that is set. */
export async function withScratchDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl) return onServer(serverUrl, work);
  const folder = await mkdtemp(join(tmpdir(), 'inlet-generate-'));
  try {
    const server = await startEmbedded(folder);
    try {
      await work(server.databaseUrl);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onServer(serverUrl: string, work: (url: string) => Promise<void>): Promise<void> {
  const name = `generate_${process.pid}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
    await work(url.toString());
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  }
}
