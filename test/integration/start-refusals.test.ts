import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isOnlyLocal, loadConfig } from '../../src/config.ts';
import { databaseForThisFile } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { launch } from '../support/run.ts';

const db = databaseForThisFile();
let dataDir: string;
let port: number;
let holder: Server;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'inlet-start-'));
  port = await freePort();
  holder = createServer().listen(port, '127.0.0.1');
  await once(holder, 'listening');
});
afterAll(async () => {
  holder.close();
  await rm(dataDir, { recursive: true, force: true });
});

const start = (role: string, runtime: string, env: Record<string, string>) =>
  launch([role, '--runtime', runtime], { DATA_DIR: dataDir, DATABASE_URL: db.url, ...env });

describe.each(['deno', 'node'])('on %s', (runtime) => {
  test.each(['main', 'api'])('%s ends with one line when PORT is taken', async (role) => {
    expect(await start(role, runtime, { PORT: String(port) })).toEqual({
      code: 1,
      stdout: '',
      stderr: `PORT ${port} is already in use on 127.0.0.1; set PORT to a free one.\n`,
    });
  });

  test('an address that is not of this machine is one line, too', async () => {
    const { code, stdout, stderr } = await start('api', runtime, {
      HOST: '192.0.2.1',
      ADMIN_PASSWORD: 'own',
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^HOST 192\.0\.2\.1 with PORT 8080 cannot be used: .*\n$/);
  });
});

test.each(['deno', 'node'])(
  'a worker on %s refuses a workflow whose program is not there',
  async (runtime) => {
    const [commands, workflows] = [join(dataDir, 'commands'), join(dataDir, 'workflows')];
    for (const path of [commands, workflows]) await mkdir(path, { recursive: true });
    const file = join(workflows, 'own.yaml');
    const operation = '  - operation: command\n    configuration: { program: missing.sh }\n';
    await writeFile(file, `id: own\ntitle: Own\noperations:\n${operation}`);
    const env = { COMMANDS_DIR: commands, WORKFLOWS_DIR: workflows, ADMIN_PASSWORD: 'own' };
    const { code, stderr } = await start('worker', runtime, env);
    expect(code).toBe(1);
    expect(stderr).toBe(`${file}:5: there is no executable file "missing.sh" in COMMANDS_DIR\n`);
  },
);

const REFUSED = (host: string) =>
  `ADMIN_PASSWORD is not set; it must be while HOST is "${host}", which is not a loopback address.`;

test.each(['main', 'api', 'worker'])(
  '%s does not start for others with the well-known password',
  async (role) => {
    for (const env of [{}, { ADMIN_PASSWORD: '' }] as Record<string, string>[]) {
      expect(await start(role, 'deno', { HOST: '0.0.0.0', ...env })).toEqual({
        code: 1,
        stdout: '',
        stderr: `${REFUSED('0.0.0.0')}\n`,
      });
    }
  },
);

test.each(['api', 'worker'])(
  '%s does not start behind a proxy with the well-known password',
  async (role) => {
    expect(await start(role, 'deno', { PUBLIC_URL: 'https://video.example.org' })).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'ADMIN_PASSWORD is not set; it must be while PUBLIC_URL leads to video.example.org, which is not a loopback address.\n',
    });
  },
);

test('a worker behind a proxy does not give the ffmpeg from npm the files of others', async () => {
  const bundled = {
    PUBLIC_URL: 'https://video.example.org',
    ADMIN_PASSWORD: 'own',
    PATH: '',
    FFMPEG_PATH: '',
    FFPROBE_PATH: '',
  };
  const { code, stderr } = await start('worker', 'node', bundled);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^No ffmpeg was found but the one from npm, .*\n$/);
});

test.each([
  '0.0.0.0',
  '::',
  '[::]',
  '192.0.2.1',
  '128.0.0.1',
  '127.0.0.1.example.org',
  'localhost.example.org',
])('at %s the password has to be chosen', (HOST) => {
  expect(() => loadConfig({ HOST })).toThrow(REFUSED(HOST));
  expect(loadConfig({ HOST, ADMIN_PASSWORD: 'own' }).admin.password).toBe('own');
});

test.each(['127.0.0.1', '127.8.9.10', '::1', '[::1]', 'localhost'])('at %s it need not', (HOST) => {
  expect(loadConfig({ HOST }).admin.password).toBe('opencast');
  expect(isOnlyLocal(loadConfig({ HOST }))).toBe(true);
});

test.each([
  [{ PUBLIC_URL: 'https://video.example.org/inlet' }, 'PUBLIC_URL leads to video.example.org, which is'],
  [{ PUBLIC_URL: 'http://[2001:db8::1]:8080' }, 'PUBLIC_URL leads to [2001:db8::1], which is'],
])('behind a proxy it has to be chosen, whatever HOST is: %j', (environment, reason) => {
  expect(() => loadConfig(environment)).toThrow(`ADMIN_PASSWORD is not set; it must be while ${reason}`);
  const config = loadConfig({ ...environment, ADMIN_PASSWORD: 'own' });
  expect([config.admin.password, isOnlyLocal(config)]).toEqual(['own', false]);
});

test('an address of this machine that clients use needs no password of its own', () => {
  expect(loadConfig({ PUBLIC_URL: 'http://localhost:9000' }).admin.password).toBe('opencast');
  expect(loadConfig({ TRUSTED_PROXIES: '127.0.0.1' }).admin.password).toBe('opencast');
  expect(loadConfig({ PUBLIC_URL: 'http://[::1]:9000/inlet/' }).admin.password).toBe('opencast');
});

test('behind a server that is there already it has to be chosen at any address', () => {
  expect(() => loadConfig({}, { isGuest: true })).toThrow(
    'ADMIN_PASSWORD is not set; it must be while another server listens for Inlet.',
  );
  expect(loadConfig({ ADMIN_PASSWORD: 'own' }, { isGuest: true }).admin.password).toBe('own');
});
