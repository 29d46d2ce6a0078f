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

/** One server and one migrated template database for the whole run, and one folder for what tests share. */
export default async function setup(project: TestProject) {
  // Each project that needs it calls this, one after the other.
  if (project.getProvidedContext().postgres) return undefined;
  const shared = await mkdtemp(join(tmpdir(), 'inlet-tests-'));
  // The processes of the tests begin with these. Most of a start is compiling what the one before compiled, too.
  process.env.TEST_CLIPS = shared;
  process.env.DENO_DIR = join(shared, 'deno');
  process.env.NODE_COMPILE_CACHE = join(shared, 'node');
  Object.assign(process.env, await mediaTools());
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
    await rm(shared, { recursive: true, force: true });
  };
}

/**
 * The media tools from npm: they are the same everywhere, and start in a tenth of the time that others need. With
 * `TEST_FFMPEG=path`, or on a platform without them, those in the search path.
 */
async function mediaTools(): Promise<Record<string, string>> {
  const nowhere = { ffmpegPath: undefined, ffprobePath: undefined };
  const bundled = await locateTools(nowhere, '').catch(() => undefined);
  const wantsBundled = process.env.TEST_FFMPEG !== 'path';
  const { ffmpeg, ffprobe } = wantsBundled && bundled ? bundled : await locateTools(nowhere);
  if (!wantsBundled && ffmpeg === bundled?.ffmpeg)
    throw new Error('TEST_FFMPEG is path, and there is no ffmpeg in PATH.');
  return { FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe };
}

/** The server of TEST_DATABASE_URL, or Debian's; else the embedded one in a folder that is removed afterwards. */
async function findServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: async () => undefined };
  if (process.env.TEST_POSTGRES === 'debian') return startDebianPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'inlet-test-'));
  const unsuitable = await startEmbedded(folder);
  await suitTests(unsuitable.databaseUrl);
  await unsuitable.stop();
  const server = await startEmbedded(folder);
  return {
    url: server.databaseUrl,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * What is lost with a power cut, tests can do without; half of their time in the database is waiting for disks. Many
 * servers share this one database server.
 */
async function suitTests(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await client.query(`ALTER SYSTEM SET ${setting} = off`);
  await client.query('ALTER SYSTEM SET max_connections = 300');
  await client.end();
}
