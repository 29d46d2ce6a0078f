import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';

const LAUNCHER = fileURLToPath(new URL('./launch.ts', import.meta.url));
let db: TestDatabase;
let dataDir: string;

beforeAll(async () => {
  db = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'inlet-launch-'));
});
afterAll(async () => {
  await db.close();
  await rm(dataDir, { recursive: true, force: true });
});

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function launch(args: string[], environment: Record<string, string> = {}): Promise<Run> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, DATABASE_URL: db.url, ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, [LAUNCHER, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

test.each([
  [['main'], { PORT: '0' }, 'PORT is "0"; allowed is a whole number from 1 to 65535.\n'],
  [
    ['api', '--runtime', 'bun'],
    {},
    '--runtime bun is not understood; allowed is --runtime deno or --runtime node.\n',
  ],
  [['all'], {}, '"all" is not one of main, api, worker, migrate, user, generate.\n'],
])('a wrong start is one line: %j %j', async (args, environment, line) => {
  expect(await launch(args, environment)).toEqual({ code: 1, stdout: '', stderr: line });
});

test('a database that does not answer is named, without its password', async () => {
  const { code, stderr } = await launch(['api'], { DATABASE_URL: 'postgres://inlet:hidden@127.0.0.1:1/x' });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^The database at 127\.0\.0\.1:1 \(DATABASE_URL\) cannot be used: .*ECONNREFUSED.*\n$/,
  );
  expect(stderr).not.toContain('hidden');
});

test.each(['main', 'api', 'worker'])('%s refuses a database that lacks migrations', async (role) => {
  const own = await createTestDatabase();
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  await client.query("DELETE FROM schema_migrations WHERE name = '0006_staging.sql'");
  await client.end();
  expect(await launch([role], { DATABASE_URL: own.url })).toMatchObject({
    code: 1,
    stderr: 'The database lacks migrations 0006_staging.sql; run npm run migrate.\n',
  });
  await own.close();
});

test('migrate brings a configured database up to date, once', async () => {
  const own = await createTestDatabase();
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  await client.query("DELETE FROM schema_migrations WHERE name = '0006_staging.sql'");
  await client.end();
  const environment = { DATABASE_URL: own.url };
  expect((await launch(['migrate'], environment)).stdout).toBe('Applied 0006_staging.sql.\n');
  expect((await launch(['migrate'], environment)).stdout).toBe('The database is up to date.\n');
  await own.close();
});

test('user gets the database and its own arguments', async () => {
  const run = await launch(['user', 'list']);
  expect(run).toEqual({ code: 0, stdout: 'There are no accounts beside the administrator.\n', stderr: '' });
});
