import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Shutdown } from '#app/shutdown.ts';
import { migrateCommand, prepareDatabase } from '#cli/prepare-database.ts';
import { loadConfig } from '#platform/config/config.ts';
import { ListenError, serve } from '#platform/http/server/serve.ts';
import { locateTools } from '#platform/media/tools/locate-tools.ts';
import { startWorkerProcess } from '#workers/start-worker.ts';
import { workerApp } from '../support/app.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';

const app = await workerApp();

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-start-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A database as an earlier version has left it. */
async function olderDatabase(): Promise<string> {
  const { url, close } = await createTestDatabase();
  onTestFinished(close);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("DELETE FROM schema_migrations WHERE name = '0006_staging.sql'");
  await client.end();
  return url;
}

test.each(['PORT', 'METRICS_PORT'])('a port of %s that is taken is named, with its variable', async (variable) => {
  const port = await freePort();
  const holder = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void holder.close());
  await once(holder, 'listening');
  const served = serve(() => new Response(), { host: '127.0.0.1', port, variable });
  const sentence = `${variable} ${port} is already in use on 127.0.0.1; set ${variable} to a free one.`;
  await expect(served).rejects.toThrow(new ListenError(sentence));
});

test('an address that is not of this machine cannot be used', async () => {
  const served = serve(() => new Response(), { host: '192.0.2.1', port: 8080 });
  await expect(served).rejects.toThrow(/^HOST 192\.0\.2\.1 with PORT 8080 cannot be used: .*$/);
});

test('a database that does not answer is named, without its password', async () => {
  const databaseUrl = 'postgres://inlet:hidden@127.0.0.1:1/x';
  const prepared = prepareDatabase({ databaseUrl, dataDir: '/nowhere' });
  await expect(prepared).rejects.toThrow(
    /^The database at 127\.0\.0\.1:1 \(DATABASE_URL\) cannot be used: (?!.*hidden).*ECONNREFUSED.*$/,
  );
});

test('a database that lacks migrations is refused; migrate brings it up to date, once', async () => {
  const databaseUrl = await olderDatabase();
  const config = loadConfig({ DATABASE_URL: databaseUrl });
  await expect(prepareDatabase(config)).rejects.toThrow(
    /^The database lacks migrations 0006_staging\.sql\. Run npm run migrate\.$/,
  );
  const printed = vi.spyOn(console, 'log').mockReturnValue();
  await migrateCommand(config);
  await migrateCommand(config);
  expect(printed.mock.calls).toEqual([['Applied 0006_staging.sql.'], ['The database is up to date.']]);
  expect(await prepareDatabase(config)).toBe(databaseUrl);
});

/** Starts the worker of a process that has these variables. */
function startWorker(environment: Record<string, string>): Promise<void> {
  const config = loadConfig({ ADMIN_PASSWORD: 'own', ...environment });
  const { log } = app.context;
  return startWorkerProcess({ ...app.context, config }, new Shutdown({ log, deadlineMs: 1, exit: () => {} }));
}

test('a worker refuses a workflow whose program does not exist', async () => {
  const folder = await emptyFolder();
  const [COMMANDS_DIR, WORKFLOWS_DIR] = [join(folder, 'commands'), join(folder, 'workflows')];
  for (const path of [COMMANDS_DIR, WORKFLOWS_DIR]) await mkdir(path);
  const file = join(WORKFLOWS_DIR, 'own.yaml');
  const operation = '  - operation: command\n    configuration: { program: missing.sh }\n';
  await writeFile(file, `id: own\ntitle: Own\noperations:\n${operation}`);
  await expect(startWorker({ COMMANDS_DIR, WORKFLOWS_DIR })).rejects.toThrow(
    `${file}:5: COMMANDS_DIR has no executable file "missing.sh"`,
  );
});

test('a worker behind a proxy does not give the ffmpeg from npm the files of others', async () => {
  const { ffmpeg, ffprobe } = await locateTools({ ffmpegPath: undefined, ffprobePath: undefined }, '');
  const started = startWorker({
    ...{ PUBLIC_URL: 'https://video.example.org', FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe },
  });
  await expect(started).rejects.toThrow(/^The only ffmpeg found is the one from npm, .*$/);
});
