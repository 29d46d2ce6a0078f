import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { ZipArchive } from '#opencast/packages/zip-archive.ts';
import { serve } from '#platform/http/server/serve.ts';
import { FolderStorage } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { addMachine } from '../support/accounts.ts';
import { workerApp } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';
import { localHeader, zipOf } from '../support/zip.ts';

/** Programs that recorders sign in and pack with: curl and Python's requests with HTTP Digest, zip and Python's zipfile. */
const run = promisify(execFile);
const runs = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const ROLES = ['ROLE_API', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_EVENTS_VIEW'];
/** What makes clients wait for a 100 first. */
const LARGE = 3_000_000;
const EVENT = {
  acl: '[]',
  metadata: '[{"flavor":"dublincore/episode","fields":[{"id":"title","value":"x"},{"id":"subject","value":""}]}]',
  processing: '{"workflow":"fast"}',
};

const app = await workerApp();
const server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
const url = `http://127.0.0.1:${server.port}`;
await addMachine(app.database, 'Hörsaal_1', { roles: ROLES });
await app.account('digest-person', ...ROLES);
const folder = await mkdtemp(join(tmpdir(), 'inlet-programs-'));
const file = join(folder, 'lecture.mp4');
await writeFile(file, Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42'), bytes(LARGE)]));
afterAll(async () => {
  server.destroy();
  await rm(folder, { recursive: true, force: true });
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
    const person = ['-u', 'digest-person:secret'];
    const { statuses, body } = await curl('/api/info/me', '--anyauth', ...person);
    expect([statuses, JSON.parse(body).username]).toEqual([[401, 401, 200], 'digest-person']);
    expect((await curl('/api/info/me', '--digest', ...person)).statuses).toEqual([401, 401]);
    expect((await curl('/api/info/me', '--basic', ...person)).statuses).toEqual([200]);
  });

  test('gives up with a wrong password', async () => {
    for (const option of ['--digest', '--basic']) {
      expect((await curl('/api/info/me', option, '-u', 'Hörsaal_1:wrong')).statuses.at(-1)).toBe(401);
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

  test('posts forms with files', async () => {
    const statuses = await python(
      `fields = ${JSON.stringify(EVENT)}`,
      'answer = session.post(url + "/api/events", data=fields, files={"presenter": open(file, "rb")}, timeout=20)',
      'print(*[each.status_code for each in answer.history], answer.status_code)',
    );
    expect(statuses).toEqual(['401', '201']);
  });
});

test('the challenge comes before anything of a body is read', async () => {
  const lines = ['POST /api/events HTTP/1.1', 'Host: x', 'Content-Type: multipart/form-data; boundary=x'];
  for (const more of [['Content-Length: 0'], ['Content-Length: 50000000000', 'Expect: 100-continue']]) {
    const head = [...lines, ...more, 'Connection: close'].join('\r\n');
    const { status, headers } = parseAnswer((await exchange(url, `${head}\r\n\r\n`)).answer);
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toMatch(/^Digest .*, Basic realm="Opencast"$/);
  }
});

describe('zip archives', () => {
  const FILES: Record<string, Buffer> = {
    'manifest.xml': Buffer.from('<mediapackage/>'),
    'episode.xml': Buffer.from('<dublincore/>\n'.repeat(20_000)),
    'camera.mp4': randomBytes(3_000_000),
    'Hörsaal 1.mp4': randomBytes(70_000),
    'empty.txt': Buffer.alloc(0),
  };
  const NAMES = Object.keys(FILES);
  const EXPECTED = Object.fromEntries(Object.entries(FILES).map(([name, data]) => [name, sha256(data)]));
  const cwd = join(folder, 'package');
  const storage = new FolderStorage(join(folder, 'storage'));
  beforeAll(async () => {
    await mkdir(cwd);
    await storage.open();
    for (const name of NAMES) await writeFile(join(cwd, name), FILES[name] ?? '');
  });

  /** Has a script of the shell write an archive, whose path is $0. @returns what is read of it */
  async function read(script: string, args: readonly string[] = NAMES) {
    const archive = join(folder, `${randomBytes(8).toString('hex')}.zip`);
    await run('sh', ['-c', script, archive, ...args], { cwd });
    const key = objectKey('track');
    await storage.put(key, createReadStream(archive), { mediatype: 'application/zip' });
    const object = { objectKey: key, size: await storage.size(key) };
    const opened = await ZipArchive.open(storage, object, 2 ** 30);
    const entries: Record<string, string> = {};
    for (const file of opened.files.values()) {
      const sum = createHash('sha256');
      for await (const chunk of opened.open(file)) sum.update(chunk);
      entries[file.name] = sum.digest('hex');
    }
    return entries;
  }

  test.skipIf(!runs('zip', '--version')).each([
    ['as Galicaster does', 'zip -qj0 "$0" "$@"'],
    ['deflated', 'zip -q9 "$0" "$@"'],
    ['in 64 bits', 'zip -qfz "$0" "$@"'],
    ['to a pipe', 'zip -q - "$@" | cat > "$0"'],
  ])('of the program zip, %s', async (_, script) => {
    expect(await read(script)).toEqual(EXPECTED);
  });

  test.skipIf(!runs('zip', '--version'))('with a symbolic link', async () => {
    await expect(read('ln -sf /etc/passwd link; zip -qy "$0" link')).rejects.toMatchObject({
      status: 400,
      message: "The zip archive is invalid: the entry 'link' is a symbolic link.",
    });
  });

  const PYTHON = `
import sys, zipfile
method, wide, *names = sys.argv[1:]
with zipfile.ZipFile(sys.stdout.buffer, 'w', int(method)) as archive:
    for name in names:
        with archive.open(name, 'w', force_zip64=wide == '1') as entry:
            entry.write(open(name, 'rb').read())
`;
  // Each two of the three together once.
  const ways = [
    ['0', '0', '> "$0"'],
    ['0', '1', '| cat > "$0"'],
    ['8', '0', '| cat > "$0"'],
    ['8', '1', '> "$0"'],
  ] as const;
  test.skipIf(!runs('python3', '--version')).each(ways)(
    'of Python: method %s, 64 bits %s, %s',
    async (method, wide, to) => {
      const script = `program="$1"; shift; python3 -c "$program" "$@" ${to}`;
      expect(await read(script, [PYTHON, method, wide, ...NAMES])).toEqual(EXPECTED);
    },
  );

  test('an entry of more than 4 GiB passes with bounded memory', async () => {
    const size = 4097 * 2 ** 20;
    const part = { name: 'camera.mp4', zip64: true };
    // The checksum of 4097 MiB of zeros.
    const found = { crc32: 0xc6a48b28, compressed: size, size };
    const head = localHeader(part, found);
    // The end of an archive whose content has been left out.
    const whole = zipOf([{ ...part, local: found, directory: found }], { zip64: true });
    const end = Buffer.from(whole.subarray(head.length));
    const at = end.indexOf('PK\x06\x06');
    end.writeBigUInt64LE(BigInt(head.length + size), at + 48);
    end.writeBigUInt64LE(BigInt(head.length + size + at), end.indexOf('PK\x06\x07') + 8);
    const key = objectKey('track');
    const path = storage.localPath(key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, head);
    await truncate(path, head.length + size);
    await appendFile(path, end);
    const object = { objectKey: key, size: head.length + size + end.length };
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const held = () => {
      // The first collection frees buffers; their sizes are subtracted in the second one.
      collect();
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    const opened = await ZipArchive.open(storage, object, 2 ** 40);
    let received = 0;
    let most = 0;
    for (const file of opened.files.values()) {
      expect(file).toMatchObject({ name: 'camera.mp4', size });
      for await (const bytes of opened.open(file)) {
        if (Math.floor(received / 2 ** 28) < Math.floor((received + bytes.length) / 2 ** 28)) {
          most = Math.max(most, held() - before);
        }
        received += bytes.length;
      }
    }
    expect(received).toBe(size);
    expect(most).toBeLessThan(2 ** 22);
  });
});
