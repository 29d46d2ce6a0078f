import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { catalogueOf } from '../support/catalogue-scene.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { commandEnvironment, importKilled, inlet, startInlet } from '../support/import-command.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { createMany, universityCatalogs } from '../support/many-recordings.ts';
import { changeAtRandom } from '../support/random-changes.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';

const KILLS = 10;
/** The items that are copied between two kills, at most. */
const STEP = 25;
const EVENTS = 300;
const CHANGES = 500;
const FILLED_MS = 900_000;
const MOVED_MS = 900_000;
const FOLLOWED_MS = 300_000;

let catalogs: Awaited<ReturnType<typeof universityCatalogs>>;
let first: TestServer;
let second: TestServer;
let third: TestServer;
let made: Awaited<ReturnType<typeof createMany>>;
beforeAll(async () => {
  catalogs = await universityCatalogs();
  const env = { METADATA_DIR: catalogs.dir };
  first = await startServer({ runtime: 'deno', env: { ...env, WORKER_CONCURRENCY: '4' } });
  second = await startServer({ runtime: 'node', roles: ['api', 'worker'], redis: true, s3: true, env });
  third = await startServer({ runtime: 'deno', env });
  made = await createMany(new Client(first.url), first.database);
}, FILLED_MS);
afterAll(async () => {
  for (const server of [first, second, third]) await server?.stop();
  await catalogs?.remove();
});
beforeEach((context) => {
  for (const server of [first, second, third]) showLogsOnFailure(context, server);
});

const environmentOf = (server: TestServer) => ({
  ...commandEnvironment(server, { METADATA_DIR: catalogs.dir, INLET_PASSWORD: 'opencast' }),
  ...(server === second && { ...second.s3.env, REDIS_URL: second.redis.url }),
});
const argumentsFor = (from: TestServer) => ['import', from.url, '--user', 'admin', '--rate', '200'];

/** Reads everything, but for previews that the External API does not show: recordings that were cut have others. */
async function answersOf({ url }: TestServer): Promise<Map<string, unknown>> {
  const answers = await catalogueOf(new Client(url), { files: true });
  for (const answer of answers.values()) {
    const { identifier, has_previews } = answer as { identifier?: string; has_previews?: boolean };
    if (has_previews !== undefined && made.hiddenPreviews.has(identifier ?? ''))
      Reflect.deleteProperty(answer as object, 'has_previews');
  }
  return answers;
}

/** Fails for answers of one Inlet that another one does not give, and for files with other bytes. */
async function expectSame(copy: TestServer, source: TestServer, history = new Map<string, string[]>()): Promise<void> {
  const [found, expected] = await Promise.all([copy, source].map(answersOf));
  const paths = [...new Set([...(found?.keys() ?? []), ...(expected?.keys() ?? [])])];
  const different = paths.filter((path) => !isDeepStrictEqual(found?.get(path), expected?.get(path)));
  const some = (of: Map<string, unknown> | undefined) => different.slice(0, 5).map((path) => [path, of?.get(path)]);
  const changes = [...history].filter(([id]) => different.some((path) => path.includes(id)));
  const what = `${different.length} of ${paths.length} answers differ, after ${JSON.stringify(changes)}.`;
  expect(some(found), what).toEqual(some(expected));
}

async function expectMoved(from: TestServer, to: TestServer): Promise<void> {
  const start = () => startInlet(environmentOf(to), ...argumentsFor(from));
  expect(await importKilled(to, start, { kills: KILLS, most: STEP })).toBeGreaterThan(0);
  const done = await inlet(environmentOf(to), ...argumentsFor(from));
  expect(done, done.stdout + done.stderr).toMatchObject({ code: 0 });
  expect(done.stdout).toContain(`Events: ${EVENTS} copied, 0 failed, 0 skipped, 0 pending`);
  await expectSame(to, from);
  expect(await to.database.selectFrom('workflows').select('id').execute()).toEqual([]);
  // Files of killed imports are removed once their lease is over.
  await expectNothingLeftOver(to, { timeoutMs: 120_000, atOnce: true });
  const verified = await inlet(environmentOf(to), 'verify', '--digests');
  expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0, stdout: '' });
}

test(
  `300 recordings move from a folder to S3 as they are, though the import is killed ${KILLS} times`,
  { timeout: MOVED_MS },
  () => expectMoved(first, second),
);

test(
  `300 recordings move from S3 to a folder as they are, though the import is killed ${KILLS} times`,
  { timeout: MOVED_MS },
  () => expectMoved(second, third),
);

test(`${CHANGES} random changes at the source are here while the import follows`, { timeout: MOVED_MS }, async () => {
  const command = startInlet(environmentOf(second), ...argumentsFor(first), '--follow');
  onTestFinished(command.kill);
  const passes = async () =>
    (await second.database.selectFrom('import_sources').select('passes').executeTakeFirst())?.passes ?? 0;
  const before = await passes();
  await eventually(async () => expect(await passes()).toBeGreaterThan(before));
  const history = await changeAtRandom(new Client(first.url), made, CHANGES);
  const after = await passes();
  // The next pass begins after the last change, and has ended when another one begins.
  await eventually(async () => expect(await passes(), command.output).toBeGreaterThan(after + 1), FOLLOWED_MS, 500);
  await expectSame(second, first, history);
  command.child.kill('SIGINT');
  expect(await command.ended).toEqual([130, null]);
  expect(command.output).toContain(' 0 failed, 0 skipped, 0 pending');
  expect(await second.database.selectFrom('workflows').select('id').execute()).toEqual([]);
  await expectNothingLeftOver(second, { timeoutMs: 120_000, atOnce: true });
});
