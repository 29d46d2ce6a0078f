import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseEndpoints } from '#cli/network-endpoints.ts';
import { denoFlags } from '#cli/permissions.ts';
import { denoProgram } from '#cli/runtime.ts';
import { folderPlace } from '#platform/storage/folder.ts';
import { bytes } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { countStart } from '../support/count-start.ts';
import { databaseForThisFile } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { freePort } from '../support/free-port.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** Wrong passwords after which no more are tried. */
const TOLERATED = 20;

const db = databaseForThisFile();

/** The server that the runtime brings along, with what the API is allowed and nothing else. */
function denoServe(dataDir: string, port: number): [string, string[]] {
  const flags = denoFlags({
    config: {
      dataDir,
      workflowsDir: undefined,
      metadataDir: undefined,
      studioDir: undefined,
      editorDir: undefined,
      operations: { commandsDir: undefined },
    },
    project: PROJECT,
    temporaryFolder: dataDir,
    listen: [],
    tools: undefined,
    commands: [],
    endpoints: [databaseEndpoints(db.url)],
    codeCaches: [join(dataDir, 'deno')],
  });
  const options = ['--quiet', '--no-config', '--no-lock', '--no-remote', '--node-modules-dir=manual'];
  const address = ['--host', '0.0.0.0', '--port', String(port)];
  return [denoProgram(), ['serve', ...options, ...flags, ...address, 'src/edge.ts']];
}

function nodeServer(_dataDir: string, port: number): [string, string[]] {
  return [process.execPath, ['test/support/edge-server.ts', String(port)]];
}

describe.each([
  ['deno serve', denoServe, 'WWW-Authenticate'],
  ['a server of Node', nodeServer, 'www-authenticate'],
])('the fetch handler behind %s', (_name, command, challenge) => {
  let dataDir: string;
  let port: number;
  let admin: Client;
  let server: ChildProcess;
  let output = '';
  /** The first answer, when a folder of the configuration is not there yet. */
  let before: Response;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'inlet-edge-'));
    port = await freePort();
    admin = new Client(`http://127.0.0.1:${port}`);
    countStart();
    server = spawn(...command(dataDir, port), {
      cwd: PROJECT,
      env: {
        PATH: process.env.PATH,
        DENO_DIR: process.env.DENO_DIR,
        DATA_DIR: dataDir,
        DATABASE_URL: db.url,
        METADATA_DIR: join(dataDir, 'metadata'),
        PUBLIC_URL: admin.url,
        ADMIN_PASSWORD: 'opencast',
        MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [server.stdout, server.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    await eventually(async () => {
      before = await fetch(`${admin.url}/health/live`);
    }, 60_000);
    await mkdir(join(dataDir, 'metadata'));
    await eventually(async () => {
      const answer = await fetch(`${admin.url}/health/ready`).catch((error: Error) => error);
      if (answer instanceof Error || !answer.ok) throw new Error(`It is not ready: ${answer}\n${output}`);
    }, 60_000);
  });
  afterAll(async () => {
    if (server?.exitCode === null) {
      server.kill('SIGKILL');
      await once(server, 'exit');
    }
    await rm(dataDir, { recursive: true, force: true });
  });

  test('says that it cannot start, and why in the log, and starts with a later request', async () => {
    expect([before.status, before.headers.get('Retry-After')]).toEqual([503, '5']);
    expect(await before.text()).toBe('The server cannot start. Try again later.');
    expect(output).toMatch(/^METADATA_DIR is .*; allowed is a folder that can be read\.$/m);
  });

  test('answers what anybody may ask', async () => {
    const live = await fetch(`${admin.url}/health/live`);
    expect([live.status, await live.text()]).toEqual([200, '{"status":"live"}']);
    const api = await fetch(`${admin.url}/api`);
    expect(await api.json()).toMatchObject({ url: `${admin.url}/api` });
  });

  // A server of Node has resolved the path before, and the fetch handler sees nothing of it.
  test
    .runIf(command === denoServe)
    .each([
      'GET /api/events/.. HTTP/1.1\r\nHost: inlet',
      'GET /api/events/x/%2e%2e HTTP/1.1\r\nHost: inlet',
      'GET /docs HTTP/1.1\r\nHost: in let',
      'GET /api HTTP/1.1\r\nHost: x/admin/queues?',
    ])('refuses what other servers would read otherwise: %j', async (head) => {
    const { answer } = await exchange(admin.url, `${head}\r\nConnection: close\r\n\r\n`);
    expect(parseAnswer(answer).status).toBe(400);
  });

  test('asks who wants more, in names of headers that clients compare where the server lets it', async () => {
    const { statusCode, rawHeaders } = await ask(port, '127.0.0.1', undefined);
    expect(statusCode).toBe(401);
    expect(rawHeaders).toContain(challenge);
  });

  test('takes an upload', async () => {
    const content = bytes(3 * 2 ** 20);
    const id = await admin.create([...eventFields({ title: 'From the edge' }), file('presenter', 'a.mp4', content)]);
    expect(await admin.event(id)).toMatchObject({ title: 'From the edge', processing_state: 'INSTANTIATED' });
    const track = await db.database
      .selectFrom('tracks')
      .select(['object_key', 'size'])
      .where('event_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(track.size).toBe(content.length);
    const storage = await folderPlace(dataDir).open();
    expect(content.equals(await readFile(storage.localPath(track.object_key) ?? ''))).toBe(true);
    await storage.close();
  });

  test('counts wrong passwords by the address that they come from', async () => {
    const wrong = admin.as('admin', 'wrong').authorization;
    const guesses = Array.from({ length: TOLERATED }, () => ask(port, '127.0.0.2', wrong));
    expect((await Promise.all(guesses)).map(({ statusCode }) => statusCode)).toEqual(guesses.map(() => 401));
    expect((await ask(port, '127.0.0.2', wrong)).statusCode).toBe(429);
    expect((await ask(port, '127.0.0.1', wrong)).statusCode).toBe(401);
  });
});

/** Asks who it is that asks, from an address of this machine. */
function ask(port: number, localAddress: string, authorization: string | undefined) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const headers = authorization ? { Authorization: authorization } : {};
    request({ host: '127.0.0.1', port, localAddress, path: '/api/info/me', headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer));
    })
      .once('error', reject)
      .end();
  });
}
