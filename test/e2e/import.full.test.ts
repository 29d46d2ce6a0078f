import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  addCaptions,
  catalogueOf,
  createFailed,
  createPlain,
  createRecording,
  createSeries,
  schedule,
} from '../support/catalogue-scene.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startInlet } from '../support/import-command.ts';
import { eventId } from '../support/reference-catalogue.ts';
import { ReferenceServer } from '../support/reference-server.ts';
import { type Run, run } from '../support/run.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';

/** Two passes, and what they copy. */
const FOLLOWED_MS = 120_000;

let from: TestServer;
let to: TestServer;
let source: Client;
let target: Client;
beforeAll(async () => {
  from = await startServer({ runtime: 'deno' });
  to = await startServer({ runtime: 'node' });
  source = new Client(from.url);
  target = new Client(to.url);
  const series = await createSeries(source, 'Analysis');
  for (const n of [0, 1, 3]) await createRecording(source, n, series);
  await addCaptions(source, await createRecording(source, 4, series, 'publish'));
  await createFailed(source, 5);
  await createPlain(source, 6, series);
  await schedule(source, 7, 48, series);
  await schedule(source, 8, -48);
});
afterAll(async () => {
  await from?.stop();
  await to?.stop();
});
beforeEach((context) => showLogsOnFailure(context, from));

const environment = (server = to) => ({
  DATABASE_URL: server.databaseUrl,
  DATA_DIR: server.dataDir,
  PORT: new URL(server.url).port,
  HOME: server.dataDir,
  INLET_PASSWORD: 'opencast',
});
const importAll = (...options: string[]): Promise<Run> =>
  run(process.execPath, ['src/cli/inlet.ts', 'import', from.url, '--user', 'admin', ...options], environment());

test('a dry run counts and changes nothing', async () => {
  expect(await importAll('--dry-run')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 series, 8 events'),
  });
  expect(await catalogueOf(target)).toEqual(new Map());
});

test('everything of another Inlet is here with the same answers and files, and nothing was encoded', async () => {
  const done = await importAll();
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('Events: 8 copied, 0 failed') });
  expect(await catalogueOf(target, { files: true })).toEqual(await catalogueOf(source, { files: true }));
  expect(await to.database.selectFrom('workflows').select('id').execute()).toEqual([]);
  const verified = await run(process.execPath, ['src/cli/inlet.ts', 'verify', '--digests'], environment());
  expect(verified, verified.stdout).toMatchObject({ code: 0, stdout: '' });
});

const titled = (title: string) => ({
  method: 'PUT',
  body: new URLSearchParams({ metadata: JSON.stringify([{ id: 'title', value: title }]) }),
});
const rename = async (client: Client, path: string, title: string, type: string) => {
  const answer = await client.fetch(`${path}/metadata?type=${encodeURIComponent(type)}`, titled(title));
  expect(answer.ok, await answer.text()).toBe(true);
};
const titlesIn = async (client: Client, path: string) =>
  (await client.json<{ title: string }[]>(path)).map(({ title }) => title);

test('what has changed at the source is updated, and what was changed here is left alone, unless --theirs says so', async () => {
  const [first, second, third] = await publishedIn(source);
  if (!first || !second || !third) throw new Error('The source has events.');
  await rename(source, `/api/events/${first}`, 'Changed there', 'dublincore/episode');
  await rename(target, `/api/events/${second}`, 'Changed here', 'dublincore/episode');
  await rename(source, `/api/events/${second}`, 'Changed on both sides', 'dublincore/episode');
  await addCaptions(source, third);
  const done = await importAll();
  expect(done, done.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Events: 7 copied, 0 failed, 1 skipped'),
  });
  expect(done.stdout).toContain(
    `event ${second} (Changed on both sides): skipped. It was changed here since it was copied.`,
  );
  const titles = await titlesIn(target, '/api/events');
  expect(titles).toEqual(expect.arrayContaining(['Changed there', 'Changed here']));
  expect(await importAll('--theirs')).toMatchObject({ code: 0 });
  expect(await catalogueOf(target, { files: true })).toEqual(await catalogueOf(source, { files: true }));
});

/** The identifiers of published events. */
async function publishedIn(of: Client): Promise<string[]> {
  const events = await of.json<{ identifier: string; publication_status: string[] }[]>('/api/events?sort=date:ASC');
  return events.filter((event) => event.publication_status.length > 0).map(({ identifier }) => identifier);
}

test('while it follows, every change of the source is here soon after', async () => {
  const following = startInlet(environment(), 'import', from.url, '--user', 'admin', '--follow');
  onTestFinished(() => following.kill());
  const series = await createSeries(source, 'New');
  const [deleted, renamed] = await publishedIn(source);
  await createRecording(source, 10, series);
  await createPlain(source, 11);
  await rename(source, `/api/series/${series}`, 'Newer', 'dublincore/series');
  await rename(source, `/api/events/${renamed}`, 'Followed', 'dublincore/episode');
  expect((await source.fetch(`/api/events/${deleted}`, { method: 'DELETE' })).ok).toBe(true);
  const expected = await catalogueOf(source, { files: true });
  await eventually(async () => {
    expect(following.isRunning, following.output).toBe(true);
    expect(await catalogueOf(target, { files: true })).toEqual(expected);
  }, FOLLOWED_MS);
  following.child.kill('SIGINT');
  expect(await following.ended).toEqual([130, null]);
});

test('an exported catalogue is imported again as it was, with what the External API does not show', async () => {
  const folder = join(from.dataDir, 'export');
  const exported = await run(process.execPath, ['src/cli/inlet.ts', 'export', folder], environment(from));
  expect(exported, exported.stderr).toMatchObject({ code: 0 });
  const other = await startServer({ runtime: 'deno' });
  onTestFinished(() => other.stop());
  const done = await run(process.execPath, ['src/cli/inlet.ts', 'import', folder], environment(other));
  expect(done, done.stdout + done.stderr).toMatchObject({ code: 0 });
  expect(await catalogueOf(new Client(other.url), { files: true })).toEqual(await catalogueOf(source, { files: true }));
  for (const table of ['tracks', 'attachments', 'publication_elements', 'event_catalogs', 'event_acl'] as const) {
    expect(await rowsOf(other, table)).toEqual(await rowsOf(from, table));
  }
});

test('--prepare makes the renditions that published recordings of another server lack', async () => {
  const reference = await ReferenceServer.start({ events: 1, series: 0 });
  onTestFinished(() => reference.close());
  const args = ['src/cli/inlet.ts', 'import', reference.url, '--user', 'import', '--prepare'];
  const done = await run(process.execPath, args, { ...environment(), INLET_PASSWORD: 'secret' });
  expect(done, done.stdout + done.stderr).toMatchObject({ code: 0 });
  expect(await target.event(eventId(0))).toMatchObject({ processing_state: 'SUCCEEDED' });
  const [player] = await target.publications(eventId(0));
  expect(player?.media.map(({ mediatype }) => mediatype)).toContain('application/x-mpegURL');
  const { rows } = await sql<{
    id: string;
  }>`SELECT file_id AS id FROM import_files WHERE event_id = ${eventId(0)}`.execute(to.database);
  expect(rows.length).toBeGreaterThan(0);
  const again = await run(process.execPath, args, { ...environment(), INLET_PASSWORD: 'secret' });
  expect(again, again.stdout).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Events: 1 copied, 0 failed, 0 skipped'),
  });
});

/** The rows of a table in a stable order, without the places of their files. */
async function rowsOf({ database }: TestServer, table: string) {
  const { rows } = await sql<{ row: string }>`
    SELECT (to_jsonb(t) - '{object_key,workflow_id,inspection}'::text[])::text AS row FROM ${sql.table(table)} AS t ORDER BY 1`.execute(
    database,
  );
  return rows.map(({ row }) => row);
}
