import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const start = (args: string[], environment: Record<string, string> = {}) =>
  launch(args, { DATA_DIR: dataDir, DATABASE_URL: db.url, ...environment });
const refused = (line: string) => ({ code: 1, stdout: '', stderr: `${line}\n` });

test.each([
  [['main'], { PORT: '0' }, 'PORT is "0"; allowed is a whole number from 1 to 65535.'],
  [['api', '--runtime', 'bun'], {}, '--runtime bun is not allowed; use --runtime deno or --runtime node.'],
  [['all'], {}, '"all" is not one of main, api, worker, migrate, user.'],
])('a wrong start is one line: %j %j', async (args, environment, line) => {
  expect(await start(args, environment)).toEqual(refused(line));
});

test.each(['main', 'api', 'worker'])('%s does not start for others with the well-known password', async (role) => {
  const line = 'ADMIN_PASSWORD is not set; it is required while HOST is "0.0.0.0", which is not a loopback address.';
  expect(await start([role], { HOST: '0.0.0.0' })).toEqual(refused(line));
});

test('user gets the database and its own arguments', async () => {
  const stdout = 'There are no accounts except the administrator.\n';
  expect(await start(['user', 'list'])).toEqual({ code: 0, stdout, stderr: '' });
  const wrong = await start(['user', 'drop']);
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^"drop" is not a command\./) });
  expect(wrong.stderr).toContain('npm run user -- add NAME');
});

// Each runtime has its own errors of sockets and files, and writes its own standard error.
describe.each(['deno', 'node'])('on %s', (runtime) => {
  test.each(['main', 'api'])('%s ends with one line when PORT is taken', async (role) => {
    const line = `PORT ${port} is already in use on 127.0.0.1; set PORT to a free one.`;
    expect(await start([role, '--runtime', runtime], { PORT: String(port) })).toEqual(refused(line));
  });

  test('an address that is not of this machine is one line, too', async () => {
    const environment = { HOST: '192.0.2.1', ADMIN_PASSWORD: 'own' };
    const { code, stdout, stderr } = await start(['api', '--runtime', runtime], environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^HOST 192\.0\.2\.1 with PORT 8080 cannot be used: .*\n$/);
  });

  test('a worker refuses a workflow whose program does not exist', async () => {
    const [COMMANDS_DIR, WORKFLOWS_DIR] = [join(dataDir, 'commands'), join(dataDir, 'workflows')];
    for (const path of [COMMANDS_DIR, WORKFLOWS_DIR]) await mkdir(path, { recursive: true });
    const file = join(WORKFLOWS_DIR, 'own.yaml');
    const operation = '  - operation: command\n    configuration: { program: missing.sh }\n';
    await writeFile(file, `id: own\ntitle: Own\noperations:\n${operation}`);
    const environment = { COMMANDS_DIR, WORKFLOWS_DIR, ADMIN_PASSWORD: 'own' };
    expect(await start(['worker', '--runtime', runtime], environment)).toMatchObject({
      ...{ code: 1, stderr: `${file}:5: COMMANDS_DIR has no executable file "missing.sh"\n` },
    });
  });
});
