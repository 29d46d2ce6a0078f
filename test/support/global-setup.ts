import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '#platform/database/embedded/start-embedded.ts';
import { migrate } from '#platform/database/migrate.ts';
import { locateTools } from '#platform/media/tools/locate-tools.ts';
import { migrateQueue } from '#platform/queue/postgres.ts';
import { browserAvailable, serveBrowser } from './chromium.ts';
import { databaseUrl } from './database.ts';
import { startDebianPostgres } from './debian-postgres.ts';

/** Processes of the product that `npm test` may start: each costs a second or more. */
const MOST_PROCESSES = 20;

/** Projects with tests of pages. */
const WITH_BROWSER: ReadonlySet<string> = new Set(['full', 'storms']);

/** One server, one migrated template database, one folder and one browser for all tests of a project. */
export default async function setup(project: TestProject) {
  const shared = await mkdtemp(join(tmpdir(), 'inlet-tests-'));
  const started = join(shared, 'started');
  const distribution = project.name === 'distribution';
  const server = await findServer(distribution);
  const template = `template_${process.pid}_${project.name}`;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await migrate(databaseUrl(server.url, template));
  await migrateQueue(databaseUrl(server.url, template));
  const browser = WITH_BROWSER.has(project.name) && browserAvailable() ? await serveBrowser() : undefined;
  project.provide('postgres', { serverUrl: server.url, template });
  project.provide('browser', browser?.wsEndpoint() ?? '');
  project.provide('environment', {
    ...(await mediaTools(distribution)),
    TEST_CLIPS: shared,
    TEST_STARTED: started,
    // Most of a start is compiling what the process before has compiled, too.
    DENO_DIR: join(shared, 'deno'),
    NODE_COMPILE_CACHE: join(shared, 'node'),
  });
  return async () => {
    await browser?.close();
    await client.query(`DROP DATABASE ${template} WITH (FORCE)`);
    await client.end();
    await server.stop();
    const count = existsSync(started) ? readFileSync(started, 'utf8').split('\n').length - 1 : 0;
    await rm(shared, { recursive: true, force: true });
    console.log(`Processes of the product started by ${project.name}: ${count}`);
    if (project.name === 'quick' && count > MOST_PROCESSES)
      throw new Error(`npm test may start ${MOST_PROCESSES} processes of the product, and started ${count}.`);
  };
}

/**
 * The media tools from npm: they are the same everywhere, and start in a tenth of the time that others need. For the
 * distribution's, or on a platform without them, those in the search path.
 */
async function mediaTools(distribution: boolean): Promise<Record<string, string>> {
  const nowhere = { ffmpegPath: undefined, ffprobePath: undefined };
  const bundled = await locateTools(nowhere, '').catch(() => undefined);
  const { ffmpeg, ffprobe } = bundled && !distribution ? bundled : await locateTools(nowhere);
  if (distribution && ffmpeg === bundled?.ffmpeg) throw new Error('There is no ffmpeg on PATH.');
  return { FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe };
}

/** The server of TEST_DATABASE_URL, or Debian's; else the embedded one in a folder that is removed afterwards. */
async function findServer(distribution: boolean): Promise<{ url: string; stop(): Promise<void> }> {
  if (distribution) return startDebianPostgres();
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: async () => undefined };
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

/** Tests can lose what a power cut would lose; half of their time in the database is waiting for disks. */
async function suitTests(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await client.query(`ALTER SYSTEM SET ${setting} = off`);
  await client.query('ALTER SYSTEM SET max_connections = 300');
  await client.end();
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: { serverUrl: string; template: string };
    /** Where the one browser of all page tests listens; empty where there is none. */
    browser: string;
    /** Variables for each worker and the processes that it starts. */
    environment: Record<string, string>;
  }
}
