import { readFileSync, readlinkSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENTRIES, type Role } from '#cli/role.ts';
import { testTools } from '../support/clips.ts';
import { databaseForThisFile } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import type { Attempt } from '../support/permission-probe.ts';
import { startProxy, type TestProxy } from '../support/proxy.ts';
import { RoleProcess } from '../support/role-process.ts';
import { run } from '../support/run.ts';

const PROBE = fileURLToPath(new URL('../support/permission-probe.ts', import.meta.url));
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

const db = databaseForThisFile();
const { ffmpeg, ffprobe } = await testTools();

let folder: string;
let dataDir: string;
let outside: string;
let port: number;
let neighbour: TestProxy;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-permissions-'));
  dataDir = join(folder, 'data');
  outside = join(folder, 'outside');
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '18');
  await writeFile(join(dataDir, 'postgres.secret'), 'secret');
  await writeFile(outside, 'secret');
  await copyFile('/bin/true', join(dataDir, 'ffmpeg'));
  port = await freePort();
  const { hostname, port: server } = new URL(db.url);
  neighbour = await startProxy(hostname, Number(server || 5432));
});
afterAll(async () => {
  await neighbour?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The command that a role has become: Deno with its flags, without the module that it runs. */
async function commandOf(role: Role): Promise<{ program: string; args: string[]; env: Record<string, string> }> {
  const started = new RoleProcess(role, 'deno', {
    DATA_DIR: dataDir,
    // What the tests share would take the place of the product's own.
    DENO_DIR: '',
    DATABASE_URL: db.url,
    PORT: String(port),
    FFMPEG_PATH: ffmpeg,
    FFPROBE_PATH: ffprobe,
  });
  started.start();
  try {
    let args: string[] = [];
    await eventually(() => {
      args = fieldsOf(started.pid, 'cmdline');
      expect([basename(program(started.pid)), args.at(-1)]).toEqual(['deno', ENTRIES[role]]);
    }, 60_000);
    const env = fieldsOf(started.pid, 'environ').map((field) => field.split(/=(.*)/s).slice(0, 2));
    return { program: program(started.pid), args: args.slice(1, -1), env: Object.fromEntries(env) };
  } finally {
    await started.kill();
  }
}

const program = (pid: number) => readlinkSync(`/proc/${pid}/exe`);
const fieldsOf = (pid: number, file: string) =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);

/** What anybody may do who answers requests or works on recordings. */
const allowed = (): Attempt[] => [
  ['write', join(dataDir, 'objects.txt')],
  ['read', join(dataDir, 'objects.txt')],
  ['write', join(dataDir, 'tmp', 'part')],
  ['read', join(PROJECT, 'sql/0001_accounts.sql')],
  ['connect', new URL(db.url).port || '5432'],
  ['variable', 'DATABASE_URL'],
];

/** What none of them may. */
const forbidden = (): Attempt[] => [
  ['read', outside],
  ['look', outside],
  ['read', '/etc/passwd'],
  ['read', '/proc/self/environ'],
  ['list', '/'],
  ['list', homedir()],
  ['list', folder],
  ['read', join(PROJECT, 'README.md')],
  ['list', join(PROJECT, 'test')],
  ['read', join(dataDir, 'postgres.secret')],
  ['read', join(dataDir, 'postgres', 'PG_VERSION')],
  ['list', join(dataDir, 'deno')],
  ['read by link', dataDir, outside],
  ['write', outside],
  ['write', join(folder, 'new')],
  ['write', join(tmpdir(), 'inlet-probe')],
  ['write', join(PROJECT, 'src/main.ts')],
  ['write', join(PROJECT, 'node_modules/hono/package.json')],
  ['write', join(PROJECT, 'sql/0001_accounts.sql')],
  ['write', join(dataDir, 'postgres', 'postgresql.conf')],
  ['write', join(dataDir, 'postgres.secret')],
  ['write', join(dataDir, 'deno', 'probe')],
  ['write', ffmpeg],
  ['run', '/bin/sh', '-c', 'exit 0'],
  ['run', process.execPath, '--version'],
  ['run', join(dataDir, 'ffmpeg')],
  ['run with another loader', ffmpeg, join(dataDir, 'library.so')],
  ['signal', String(process.pid)],
  ['native code', outside],
  ['import', `file://${outside}`],
];

/** Webhooks have hosts that nobody knows before: whoever tells them may reach all, and does so by rules of its own. */
const network = (): Attempt[] => [
  ['connect', String(neighbour.port)],
  ['listen', String(neighbour.port + 1)],
];

const tools = (): Attempt[] => [
  ['run', ffmpeg, '-version'],
  ['run', ffprobe, '-version'],
];

/** What each role does. */
const ROLES = {
  api: { runsTools: false, listens: true },
  worker: { runsTools: true, listens: false },
  main: { runsTools: true, listens: true },
};

/** Tests what Deno allows the process of a role. Node has no such limits. */
export function describePermissions(role: Role): void {
  const { runsTools, listens } = ROLES[role];
  describe(`the permissions of ${role}`, () => {
    let command: Awaited<ReturnType<typeof commandOf>>;
    beforeAll(async () => {
      command = await commandOf(role);
    });

    /** @returns what came of each attempt */
    async function tryAll(attempts: Attempt[]): Promise<[string, string][]> {
      const args = [...command.args, PROBE, ...attempts.map((attempt) => JSON.stringify(attempt))];
      const { stdout, stderr } = await run(command.program, args, command.env);
      const outcomes = stdout.split('\n').filter(Boolean);
      expect([outcomes.length, stderr]).toEqual([attempts.length, '']);
      return attempts.map((attempt, i) => [attempt.join(' '), JSON.parse(outcomes[i] ?? '').outcome]);
    }
    const all = (attempts: Attempt[], outcome: string) => attempts.map((attempt) => [attempt.join(' '), outcome]);

    test('does its work in its own folders', async () => {
      expect(await tryAll(allowed())).toEqual(all(allowed(), 'done'));
    });

    test('does nothing elsewhere', async () => {
      expect(await tryAll(forbidden())).toEqual(all(forbidden(), 'denied'));
    });

    test(runsTools ? 'starts the tools' : 'starts no tool either', async () => {
      expect(await tryAll(tools())).toEqual(all(tools(), runsTools ? 'done' : 'denied'));
    });

    test(runsTools ? 'reaches other hosts, to tell webhooks' : 'reaches no other host', async () => {
      expect(await tryAll(network())).toEqual(all(network(), runsTools ? 'done' : 'denied'));
    });

    test.skipIf(!listens)('listens where it is told', async () => {
      const attempts: Attempt[] = [['listen', String(port)]];
      expect(await tryAll(attempts)).toEqual(all(attempts, 'done'));
    });

    test('finds other variables unset', async () => {
      command.env.UNKNOWN_SECRET = 'secret';
      const attempts: Attempt[] = [['variable', 'UNKNOWN_SECRET']];
      expect(await tryAll(attempts)).toEqual(all(attempts, 'Error: unset'));
    });
  });
}
