import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { addMachine } from '../support/accounts.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';

const runs = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const run = promisify(execFile);
const ROLES = ['ROLE_API', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_EVENTS_VIEW'];
/** What makes clients wait for a 100 first. */
const LARGE = 3_000_000;
const EVENT = {
  acl: '[]',
  metadata:
    '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"x"},{"id":"subject","value":""}]}]',
  processing: '{"workflow":"fast"}',
};

let app: TestApp;
let server: RunningServer;
let url: string;
let folder: string;
let file: string;
beforeAll(async () => {
  app = await createTestApp();
  server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${server.port}`;
  await addMachine(app.database, 'Hörsaal_1', { roles: ROLES });
  await app.account('person', ...ROLES);
  folder = await mkdtemp(join(tmpdir(), 'inlet-digest-'));
  file = join(folder, 'lecture.mp4');
  await writeFile(file, Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42'), bytes(LARGE)]));
});
afterAll(async () => {
  server?.destroy();
  await app?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!runs('curl', '--version'))('curl', () => {
  /** The statuses of all answers, and the body of the last one. */
  async function curl(path: string, ...args: string[]) {
    const { stdout } = await run('curl', ['-sS', '-i', '--max-time', '30', ...args, url + path]);
    const statuses = [...stdout.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));
    return { statuses, body: stdout.slice(stdout.lastIndexOf('\r\n\r\n') + 4) };
  }
  const fields = (of: Record<string, string>) =>
    Object.entries(of).flatMap(([name, value]) => ['-F', `${name}=${value}`]);
  const machine = ['-u', 'Hörsaal_1:secret'];

  test.each([['--digest'], ['--anyauth'], ['--digest', '-H', 'X-Requested-Auth: Digest']])(
    'reads with %s %s %s',
    async (...options) => {
      const { statuses, body } = await curl('/api/info/me?x=a%20b', ...options, ...machine);
      expect([statuses, JSON.parse(body).username]).toEqual([[401, 200], 'Hörsaal_1']);
    },
  );

  test('uses one nonce for all that it asks over one connection', async () => {
    const { statuses } = await curl('/api/info/me', '--digest', ...machine, `${url}/api/events`);
    expect(statuses).toEqual([401, 200, 200]);
  });

  test('posts nothing before it was asked for its password, and then the form', async () => {
    const path = '/capture-admin/agents/H%C3%B6rsaal_1%2F2_%C3%A4';
    for (const form of [fields({ state: 'idle' }), ['--data', 'state=idle']]) {
      const { statuses, body } = await curl(path, '--digest', ...machine, ...form);
      expect([statuses, body]).toEqual([[401, 200], 'Hörsaal_1/2_ä set to idle']);
    }
  });

  test.each(['--digest', '--anyauth'])('sends a file with %s', async (option) => {
    const form = [...fields(EVENT), '-F', `presenter=@${file}`];
    const { statuses } = await curl('/api/events', option, ...machine, ...form);
    expect(statuses.filter((status) => status !== 100)).toEqual([401, 201]);
  });

  test('comes with Basic after a digest of a person, when it may take either', async () => {
    const person = ['-u', 'person:secret'];
    const { statuses, body } = await curl('/api/info/me', '--anyauth', ...person);
    expect([statuses, JSON.parse(body).username]).toEqual([[401, 401, 200], 'person']);
    expect((await curl('/api/info/me', '--digest', ...person)).statuses).toEqual([401, 401]);
    expect((await curl('/api/info/me', '--basic', ...person)).statuses).toEqual([200]);
  });

  test('gives up with a wrong password', async () => {
    for (const option of ['--digest', '--basic']) {
      const { statuses } = await curl('/api/info/me', option, '-u', 'Hörsaal_1:wrong');
      expect(statuses.at(-1)).toBe(401);
    }
  });
});

describe.skipIf(!runs('python3', '-c', 'import requests'))('python-requests', () => {
  /** Runs a program of python, which knows `url`, `file` and a session that signs in with Digest. @returns its words */
  async function python(...lines: string[]): Promise<string[]> {
    const head = [
      'import requests, sys',
      'from requests.auth import HTTPDigestAuth',
      'url, file = sys.argv[1:]',
      'session = requests.Session()',
      "session.auth = HTTPDigestAuth('Hörsaal_1', 'secret')",
    ];
    const script = [...head, ...lines].join('\n');
    const { stdout } = await run('python3', ['-c', script, url, file], { timeout: 30_000 });
    return stdout.trim().split(/\s+/);
  }

  test('signs in, and goes on with the nonce that it has', async () => {
    const statuses = await python(
      'for path in ["/api/info/me", "/api/events?limit=1&filter=textFilter:a%20b"]:',
      '  answer = session.get(url + path, timeout=10)',
      '  print(*[each.status_code for each in answer.history], answer.status_code)',
    );
    expect(statuses).toEqual(['401', '200', '200']);
  });

  test('streams a file that it reads once, after a first request', async () => {
    const statuses = await python(
      'session.get(url + "/api/info/me", timeout=10)',
      'def stream():',
      '  with open(file, "rb") as opened:',
      '    yield from iter(lambda: opened.read(65536), b"")',
      'headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "0", "Content-Type": "application/offset+octet-stream"}',
      'answer = session.post(url + "/uploads", data=stream(), headers=headers, timeout=10)',
      'print(answer.status_code, answer.request.headers["Authorization"].split("nc=")[1][:8])',
    );
    expect(statuses[0]).not.toBe('401');
    expect(statuses[1]).toBe('00000002');
  });

  test('posts forms with files', async () => {
    const statuses = await python(
      `fields = ${JSON.stringify(EVENT)}`,
      'answer = session.post(url + "/api/events", data=fields, files={"presenter": open(file, "rb")}, timeout=20)',
      'print(*[each.status_code for each in answer.history], answer.status_code)',
    );
    expect(statuses).toEqual(['401', '201']);
  });

  test('gives up with a wrong password', async () => {
    const statuses = await python(
      "answer = requests.get(url + '/api/info/me', auth=HTTPDigestAuth('Hörsaal_1', 'wrong'), timeout=10)",
      'print(*[each.status_code for each in answer.history], answer.status_code)',
    );
    expect(statuses).toEqual(['401', '401']);
  });
});

test('the challenge comes before anything of a body is read', async () => {
  const lines = ['POST /api/events HTTP/1.1', 'Host: x', 'Content-Type: multipart/form-data; boundary=x'];
  for (const more of [['Content-Length: 0'], ['Content-Length: 50000000000', 'Expect: 100-continue']]) {
    const { answer } = await exchange(
      url,
      `${[...lines, ...more].join('\r\n')}\r\nConnection: close\r\n\r\n`,
    );
    const { status, headers } = parseAnswer(answer);
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toMatch(/^Digest .*, Basic realm="Opencast"$/);
  }
});
