import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  addCaptions,
  catalogueOf,
  createFailed,
  createRecording,
  createSeries,
  schedule,
} from '../support/catalogue-scene.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { commandEnvironment, inlet, startInlet } from '../support/import-command.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';

const SENT_MS = 60_000;

let from: TestServer;
let to: TestServer;
beforeAll(async () => {
  from = await startServer({ runtime: 'node' });
  to = await startServer({ runtime: 'deno', s3: true });
  // Databases of tests are copies of one.
  await to.database
    .updateTable('nonce_key')
    .set({ key: Buffer.alloc(32, 7) })
    .execute();
  const source = new Client(from.url);
  const series = await createSeries(source, 'Analysis');
  for (const n of [0, 1, 3]) await createRecording(source, n, series);
  await addCaptions(source, await createRecording(source, 4, series, 'publish'));
  await createFailed(source, 5);
  await schedule(source, 7, 48, series);
});
afterAll(async () => {
  await from?.stop();
  await to?.stop();
});
beforeEach((context) => {
  for (const server of [from, to]) showLogsOnFailure(context, server);
});

const count = async (what: RawBuilder<unknown>) => {
  const { rows } = await sql<{ count: number }>`SELECT (${what})::integer AS count`.execute(to.database);
  return rows[0]?.count ?? 0;
};
const STAGED = sql`SELECT count(*) FROM staging`;
const COPIED = sql`SELECT count(*) FROM import_files`;

/** Starts an export, and waits until files of an event arrive that were not there before. */
async function startReceived(start: () => ReturnType<typeof startInlet>) {
  await eventually(async () => expect(await count(STAGED)).toBe(0), SENT_MS);
  const before = await count(COPIED);
  const command = start();
  await eventually(
    async () => {
      if (!command.isRunning) throw new Error(`The export has ended too early: ${command.output}`);
      expect((await count(COPIED)) + (await count(STAGED))).toBeGreaterThan(before);
    },
    SENT_MS,
    2,
  );
  return command;
}

test('everything is there with the same answers and files, though the sender and the receiver are killed', async () => {
  const environment = commandEnvironment(from, { INLET_PASSWORD: 'opencast' });
  const args = ['export', to.url, '--user', 'admin', '--parallel', '1'];
  const first = await startReceived(() => startInlet(environment, ...args));
  await first.kill();

  const second = await startReceived(() => startInlet(environment, ...args));
  await to.api.kill();
  await eventually(() => expect(second.output).toContain('Waiting for the other Inlet'), SENT_MS);
  to.api.start();
  await to.ready();
  const [code] = await second.ended;
  expect(code, second.output).toBe(0);

  const catalogues = [from, to].map(({ url }) => catalogueOf(new Client(url), { files: true }));
  const [expected, found] = await Promise.all(catalogues);
  expect(found).toEqual(expected);
  expect(await to.database.selectFrom('workflows').select('id').execute()).toEqual([]);
  await expectNothingLeftOver(to, { timeoutMs: SENT_MS, atOnce: true });
  const verified = await inlet(commandEnvironment(to, to.s3.env), 'verify', '--digests');
  expect(verified, verified.stdout).toMatchObject({ code: 0, stdout: '' });

  const again = await inlet(environment, ...args);
  expect(again, again.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('0 bytes of files were sent.'),
  });
  expect(again.stdout).toContain('events: 6 copied, 0 failed, 0 skipped, 0 pending');
});
