import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { type Run, run } from '../support/run.ts';
import { startS3 } from '../support/s3.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-command-'));
  server = await startServer({ runtime: 'deno' });
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({
  DATABASE_URL: server.databaseUrl,
  DATA_DIR: server.dataDir,
  PORT: new URL(server.url).port,
  HOME: folder,
  FFMPEG_PATH: process.env.FFMPEG_PATH ?? '',
  FFPROBE_PATH: process.env.FFPROBE_PATH ?? '',
});
/** For what a command asks a storage with a limit of seconds: on a busy machine that is told of instead of the reason. */
const PATIENCE_MS = 60_000;
const inlet = (...args: string[]): Promise<Run> => run(process.execPath, ['src/cli/inlet.ts', ...args], environment());

test('a recording is sent, followed to its end, listed and verified', async () => {
  const path = join(folder, 'Lecture 1.mp4');
  await writeFile(path, await recording());
  const sent = await inlet('upload', path, '--read', 'ROLE_ANONYMOUS');
  expect(sent).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/State +SUCCEEDED\n[\s\S]*Watch +http/),
  });
  const [, id = ''] = /^Event +(\S+)/m.exec(sent.stdout) ?? [];
  const listed = await inlet('events', '--state', 'succeeded');
  expect(listed.stdout).toMatch(new RegExp(`^${id}  SUCCEEDED .* Lecture 1$`, 'm'));
  expect(await inlet('verify', '--digests')).toMatchObject({ code: 0, stdout: '' });
});

test('what cannot be processed makes the command fail, and may be tried again by its event', async () => {
  const path = join(folder, 'broken.mp4');
  await writeFile(path, 'no recording');
  const sent = await inlet('upload', path);
  expect(sent).toMatchObject({ code: 1, stdout: expect.stringContaining('FAILED') });
  expect(sent.stdout).not.toContain('null');
  const [, id = ''] = /^Event +(\S+)/m.exec(sent.stdout) ?? [];
  expect(await inlet('workflows', 'retry', id)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`event ${id}`),
  });
  expect((await inlet('workflows', 'pause', id)).stderr).toContain(
    '"pause" is not allowed; the first argument must be retry or stop',
  );
  expect(await inlet('workflows', 'stop', 'nothing')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing'),
  });
});

test('an upload that was stopped goes on where it was when the command is given again', async () => {
  const path = join(folder, 'long.mp4');
  await writeFile(path, bytes(300 * 2 ** 20));
  const child = spawn(process.execPath, ['src/cli/inlet.ts', 'upload', path, '--no-wait'], {
    env: { ...process.env, ...environment() },
    stdio: 'ignore',
  });
  const begun = server.database.selectFrom('uploads').select(['id', 'stored']).where('filename', '=', 'long.mp4');
  while (((await begun.executeTakeFirst())?.stored ?? 0) === 0) await sleep(10);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const before = await begun.execute();
  expect(before).toHaveLength(1);
  expect(await inlet('upload', path, '--no-wait')).toMatchObject({ code: 0 });
  expect((await begun.execute()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  // The same file once more is another recording.
  expect(await inlet('upload', path, '--no-wait')).toMatchObject({ code: 0 });
  expect(await begun.execute()).toHaveLength(2);
});

test('the doctor finds that all works, and names what does not with what to do', async () => {
  const well = await inlet('doctor');
  expect(well).toMatchObject({ code: 0, stdout: expect.stringContaining('Everything works.') });
  expect(well.stdout).toMatch(/^ok +storage +the folder \S+ \(DATA_DIR\) stored, returned/m);
  const sick = await run(process.execPath, ['src/cli/inlet.ts', 'doctor'], {
    ...environment(),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    REDIS_URL: 'redis://:s3cret@127.0.0.1:1',
    FFMPEG_PATH: '/nowhere/ffmpeg',
  });
  expect(sick.code).toBe(1);
  for (const part of ['database', 'queue', 'ffmpeg']) expect(sick.stdout).toMatch(new RegExp(`^FAIL +${part} `, 'm'));
  // One that does not work keeps no other from being looked at.
  expect(sick.stdout).toMatch(/^ok +storage/m);
  expect(sick.stdout + sick.stderr).not.toContain('s3cret');
});

test('what is not understood is refused with the usage', async () => {
  expect(await inlet('verify', '--everything')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--digests'),
  });
  expect(await inlet('nonsense')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"nonsense" is not a command'),
  });
  expect(await inlet('events', '--state', 'bogus')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--state is "bogus"; allowed is INSTANTIATED, RUNNING'),
  });
  expect(await inlet('backup')).toMatchObject({ code: 1, stderr: expect.stringContaining('DIR is missing') });
  expect(await inlet('restore', folder)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no complete backup'),
  });
});

test('what is not there is named in one line, without a secret', async () => {
  const sick = {
    ...environment(),
    ...{ S3_BUCKET: 'recordings', AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1', AWS_REGION: 'us-east-1' },
    ...{ AWS_ACCESS_KEY_ID: 'inlet', AWS_SECRET_ACCESS_KEY: 's3cret' },
  };
  for (const args of [['verify'], ['backup', join(folder, 'none')]]) {
    await eventually(async () => {
      const { code, stdout, stderr } = await run(process.execPath, ['src/cli/inlet.ts', ...args], sick);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^The bucket recordings \(S3_BUCKET\) cannot be used: .*ECONNREFUSED.*\n$/);
    }, PATIENCE_MS);
  }
});

test('a bucket that is not there is told of by what was answered', async () => {
  const s3 = await startS3();
  onTestFinished(s3.stop);
  const sick = { ...environment(), ...s3.env, S3_BUCKET: 'elsewhere' };
  const asked = (command: string) => run(process.execPath, ['src/cli/inlet.ts', command], sick);
  await eventually(
    async () => expect((await asked('verify')).stderr).toContain('(S3_BUCKET) cannot be used: HTTP 404\n'),
    PATIENCE_MS,
  );
  await eventually(
    async () => expect((await asked('doctor')).stdout).toMatch(/^FAIL +storage +HTTP 404\.\n/m),
    PATIENCE_MS,
  );
});

test('paths are those of whoever calls, though npm runs commands in the folder of the package', async () => {
  const asked = { ...environment(), npm_lifecycle_event: 'inlet', INIT_CWD: folder };
  const { code, stderr } = await run(process.execPath, ['src/cli/inlet.ts', 'backup', 'relative'], asked);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(await readdir(join(folder, 'relative'))).toContain('manifest.json');
});

test('a restore from a backup that is there ends in one line where the bucket is not', async () => {
  const backup = join(folder, 'before');
  expect((await inlet('backup', backup)).code).toBe(0);
  const s3 = await startS3();
  onTestFinished(s3.stop);
  const sick = { ...environment(), ...s3.env, S3_BUCKET: 'elsewhere' };
  await eventually(async () => {
    const { code, stderr } = await run(process.execPath, ['src/cli/inlet.ts', 'restore', backup], sick);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'The bucket elsewhere (S3_BUCKET) cannot be used: HTTP 404\n',
    });
  }, PATIENCE_MS);
});

test('a server that takes no files in several requests gets them in one, readable by whom was said', async () => {
  const path = join(folder, 'At once.mp4');
  await writeFile(path, await recording());
  const plain = createServer((asked, answer) => {
    if (asked.method === 'OPTIONS') return void answer.writeHead(404).end();
    const { method, headers } = asked;
    const handed = request(`${server.url}${asked.url}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    asked.pipe(handed);
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void plain.close());
  const { port } = plain.address() as AddressInfo;
  const sent = await inlet(
    'upload',
    path,
    '--url',
    `http://127.0.0.1:${port}`,
    '--read',
    'ROLE_STAFF',
    '--title',
    'Secret',
  );
  expect(sent).toMatchObject({ code: 0 });
  const [, id = ''] = /^Event +(\S+)/m.exec(sent.stdout) ?? [];
  const event = await server.database
    .selectFrom('events')
    .select(['title', 'read_roles'])
    .where('id', '=', id)
    .executeTakeFirst();
  expect(event?.title).toBe('Secret');
  expect(event?.read_roles).toContain('ROLE_STAFF');
  expect(event?.read_roles).not.toContain('ROLE_ANONYMOUS');
});
