import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../src/database/embedded/start.ts';
import { migrate } from '../../src/database/migrate.ts';
import { locateTools } from '../../src/media/tools.ts';
import { migrateQueue } from '../../src/queue/postgres.ts';
import { databaseUrl } from './database.ts';
import { startDebianPostgres } from './debian-postgres.ts';

/** One server and one migrated template database for the whole run, and one folder for the clips that tests share. */
export default async function setup(project: TestProject) {
  // Each project that needs it calls this, one after the other.
  if (project.getProvidedContext().postgres) return undefined;
  const clips = await mkdtemp(join(tmpdir(), 'inlet-clips-'));
  // The processes of the tests begin with these.
  process.env.TEST_CLIPS = clips;
  if (process.env.TEST_FFMPEG === 'bundled') Object.assign(process.env, await bundledTools());
  const server = await findServer();
  const template = `template_${process.pid}`;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await migrate(databaseUrl(server.url, template));
  await migrateQueue(databaseUrl(server.url, template));
  project.vitest.provide('postgres', { serverUrl: server.url, template });
  return async () => {
    await client.query(`DROP DATABASE ${template} WITH (FORCE)`);
    await client.end();
    await server.stop();
    await rm(clips, { recursive: true, force: true });
  };
}

/** The media tools from npm, where otherwise those in the search path are taken, as the product does. */
async function bundledTools(): Promise<Record<string, string>> {
  const { ffmpeg, ffprobe } = await locateTools({ ffmpegPath: undefined, ffprobePath: undefined }, '');
  return { FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe };
}

/** The server of TEST_DATABASE_URL, or Debian's; else the embedded one in a folder that is removed afterwards. */
async function findServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: async () => undefined };
  if (process.env.TEST_POSTGRES === 'debian') return startDebianPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'inlet-test-'));
  const server = await startEmbedded(folder);
  await forgetOnPowerCut(server.databaseUrl);
  return {
    url: server.databaseUrl,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What is lost with a power cut, tests can do without; half of their time in the database is waiting for disks. */
async function forgetOnPowerCut(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await client.query(`ALTER SYSTEM SET ${setting} = off`);
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}
