import {
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { bytes, readAll, sha256, source } from '../../test/support/bytes.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startS3, type TestS3 } from '../../test/support/s3.ts';
import { objectKey } from './keys.ts';
import { S3Storage } from './s3.ts';
import { createS3Clients, type S3Clients } from './s3-client.ts';

const MIB = 2 ** 20;
const video = { mediatype: 'video/mp4' };

let server: TestS3;
let clients: S3Clients;
let client: S3Client;
let storage: S3Storage;
beforeAll(async () => {
  server = await startS3();
  Object.assign(process.env, server.env);
});
beforeEach(async () => {
  clients = createS3Clients({ forcePathStyle: true });
  client = clients.client;
  storage = new S3Storage({ ...clients, bucket: server.env.S3_BUCKET ?? '' });
  await eventually(() => storage.check());
});
afterEach(() => storage.close());
afterAll(() => server.stop());

async function expectNothingLeft(): Promise<void> {
  expect(await Array.fromAsync(storage.list(''))).toEqual([]);
  expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
}

/** Performs the first request of a kind, or not, and then fails as a broken connection does. */
function breakFirst(commandName: string, options: { performed: boolean }): () => boolean {
  let broken = false;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (broken || context.commandName !== commandName) return next(args);
      broken = true;
      if (options.performed) await next(args);
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    },
    // Below the SDK's retries.
    { step: 'deserialize', priority: 'high' },
  );
  return () => broken;
}

test('a refused part ends a put whose sender has stalled', async () => {
  const body = source(bytes(30 * MIB), 'stall');
  const putting = storage.put(objectKey('track'), body, video);
  putting.catch(() => undefined);
  await expect.poll(() => Array.fromAsync(storage.unfinished())).toHaveLength(1);
  await server.refuse();
  onTestFinished(() => server.accept());
  body.push(bytes(8 * MIB));
  // A part under way learns of the missing upload before the missing bucket.
  const refusal = { name: expect.stringMatching(/^NoSuch(Bucket|Upload)$/) };
  await expect(putting).rejects.toMatchObject({ cause: refusal });
  expect(body.errored).toMatchObject(refusal);
});

test('a server that dies in the middle ends the put', async () => {
  const key = objectKey('track');
  const body = source(bytes(30 * MIB), 'stall');
  const putting = storage.put(key, body, video);
  putting.catch(() => undefined);
  await expect.poll(() => Array.fromAsync(storage.unfinished())).toContain(key);
  await server.kill();
  body.push(bytes(8 * MIB));
  await expect(putting).rejects.toMatchObject({
    cause: { code: expect.stringMatching(/ECONNREFUSED|ECONNRESET/) },
  });
  expect(body.destroyed).toBe(true);
  await expect(storage.check()).rejects.toThrow();
  await server.restart();
  await eventually(() => storage.check());
  await storage.remove(await Array.fromAsync(storage.unfinished()));
  await expectNothingLeft();
});

test('a part that is lost on the way is sent again', async () => {
  const broken = breakFirst('UploadPartCommand', { performed: false });
  const data = bytes(20 * MIB);
  const key = objectKey('track');
  await storage.put(key, source(data), video);
  expect(broken()).toBe(true);
  expect(sha256(await readAll(await storage.get(key)))).toBe(sha256(data));
  await storage.remove([key]);
});

test('an upload begun twice because an answer was lost leaves no second one', async () => {
  const broken = breakFirst('CreateMultipartUploadCommand', { performed: true });
  const data = bytes(20 * MIB);
  const key = objectKey('track');
  await storage.put(key, source(data), video);
  expect(broken()).toBe(true);
  expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
  expect(sha256(await readAll(await storage.get(key)))).toBe(sha256(data));
  await storage.remove([key]);
});

test('an object that was completed by a request whose answer was lost is there', async () => {
  const broken = breakFirst('CompleteMultipartUploadCommand', { performed: true });
  const data = bytes(20 * MIB);
  const key = objectKey('track');
  const onDoubt = vi.fn();
  await storage.put(key, source(data), { ...video, onDoubt });
  expect(broken()).toBe(true);
  expect(onDoubt).not.toHaveBeenCalled();
  expect(sha256(await readAll(await storage.get(key)))).toBe(sha256(data));
  await storage.remove([key]);
});

test('a completion that the store refuses leaves nothing', async () => {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'CompleteMultipartUploadCommand') {
        throw Object.assign(new Error('The store refuses.'), { name: 'InvalidPart' });
      }
      return next(args);
    },
    { step: 'deserialize', priority: 'high' },
  );
  const body = source(bytes(20 * MIB));
  await expect(storage.put(objectKey('track'), body, video)).rejects.toMatchObject({
    cause: { message: 'The store refuses.' },
  });
  await expectNothingLeft();
});

test('a put can be aborted while the server hangs, and is known afterwards', async () => {
  const key = objectKey('track');
  const controller = new AbortController();
  const body = source(bytes(30 * MIB), 'stall');
  const putting = storage.put(key, body, { ...video, signal: controller.signal });
  putting.catch(() => undefined);
  await expect.poll(() => Array.fromAsync(storage.unfinished())).toContain(key);
  server.pause();
  controller.abort(new Error('the process stops'));
  expect(body.destroyed).toBe(true);
  await expect(storage.check(AbortSignal.timeout(300))).rejects.toMatchObject({ name: 'AbortError' });
  server.resume();
  await expect(putting).rejects.toThrow('the process stops');
  await expectNothingLeft();
});

test('a put that was refused leaves no doubt, one that was not answered does', async () => {
  const onDoubt = vi.fn();
  const small = () => source(bytes(10));
  await server.refuse();
  await expect(storage.put(objectKey('track'), small(), { ...video, onDoubt })).rejects.toThrow();
  await server.accept();
  expect(onDoubt).not.toHaveBeenCalled();
  server.pause();
  const key = objectKey('track');
  await expect(impatient().put(key, small(), { ...video, onDoubt })).rejects.toMatchObject({
    cause: { name: 'StorageSilent' },
  });
  expect(onDoubt).toHaveBeenCalledOnce();
  server.resume();
  await storage.remove([key]);
});

test.each([
  ['PutObjectCommand', 10],
  ['CreateMultipartUploadCommand', 20 * MIB],
])('a put leaves a doubt when a %s had to be sent again', async (command, size) => {
  const broken = breakFirst(command, { performed: false });
  const onDoubt = vi.fn();
  const key = objectKey('track');
  await storage.put(key, source(bytes(size)), { ...video, onDoubt });
  expect(broken()).toBe(true);
  expect(onDoubt).toHaveBeenCalled();
  await storage.remove([key]);
});

test.each([
  ['small', 10],
  ['in parts', 30 * MIB],
])('a put whose sender goes away leaves no doubt where the storage answers (%s)', async (_size, length) => {
  const onDoubt = vi.fn();
  const body = source(bytes(length), new Error('gone'));
  await expect(storage.put(objectKey('track'), body, { ...video, onDoubt })).rejects.toThrow('gone');
  expect(onDoubt).not.toHaveBeenCalled();
  await expectNothingLeft();
});

test('a check fails when the bucket is gone', async () => {
  await server.refuse();
  onTestFinished(() => server.accept());
  await expect(storage.check()).rejects.toThrow();
});

/** The same storage, but that it counts as silent soon; not so soon that one counts that is only slow. */
const impatient = (answerMs = 5_000) =>
  new S3Storage({
    ...clients,
    bucket: server.env.S3_BUCKET ?? '',
    limits: { patienceMs: 50, answerMs, idleMs: 5_000 },
  });

describe('a server that takes connections and never answers', () => {
  test('ends whatever is asked of it, and what it kept is known afterwards', async () => {
    const key = objectKey('track');
    const body = source(bytes(30 * MIB), 'stall');
    const silent = impatient();
    const putting = silent.put(key, body, video);
    putting.catch(() => undefined);
    await expect.poll(() => Array.fromAsync(storage.unfinished())).toContain(key);
    server.pause();
    onTestFinished(() => server.resume());
    body.push(bytes(8 * MIB));
    const requests = {
      put: () => putting,
      'put of little': () => silent.put(objectKey('track'), source(bytes(10)), video),
      get: () => silent.get(key),
      size: () => silent.size(key),
      remove: () => silent.remove([key]),
      list: () => Array.fromAsync(silent.list('')),
      unfinished: () => Array.fromAsync(silent.unfinished()),
    };
    const outcomes = Object.entries(requests).map(async ([name, request]) =>
      request().then(
        () => `${name}: answered`,
        ({ message, cause = { message } }: Error) => `${name}: ${(cause as Error).message}`,
      ),
    );
    expect(await Promise.all(outcomes)).toEqual(
      Object.keys(requests).map((name) => `${name}: The object storage does not answer.`),
    );
    expect(body.errored).toMatchObject({ name: 'StorageSilent' });
    server.resume();
    await storage.remove(await Array.fromAsync(storage.unfinished()));
    await expectNothingLeft();
  });

  test('ends a reader in the middle of an object', async () => {
    const key = objectKey('track');
    await storage.put(key, source(bytes(30 * MIB)), video);
    const reader = (await impatient().get(key)).getReader();
    await reader.read();
    server.pause();
    onTestFinished(() => server.resume());
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow('The storage stopped sending an object.');
    server.resume();
    await storage.remove([key]);
  });
});

test('a request that takes long is not cut while the server answers others', async () => {
  let slow = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const long = ['UploadPartCommand', 'CompleteMultipartUploadCommand'].includes(
        context.commandName ?? '',
      );
      if (long) await new Promise((resolve) => setTimeout(resolve, 300));
      if (long) slow += 1;
      return next(args);
    },
    { step: 'deserialize', priority: 'high' },
  );
  const key = objectKey('track');
  await impatient(60_000).put(key, source(bytes(12 * MIB)), { ...video, expectedBytes: 12 * MIB });
  expect(slow).toBeGreaterThanOrEqual(4);
  await storage.remove([key]);
});

test('files of others in the bucket are left alone', async () => {
  const foreign = { Bucket: server.env.S3_BUCKET, Key: 'backup/2026.tar' };
  await client.send(new PutObjectCommand({ ...foreign, Body: 'x' }));
  await client.send(new CreateMultipartUploadCommand(foreign));
  await expectNothingLeft();
  await client.send(new DeleteObjectCommand(foreign));
});

test('more objects than fit in one answer are all listed', async () => {
  const keys = Array.from({ length: 45 }, () => objectKey('track'));
  await Promise.all(keys.map((key) => storage.put(key, source(bytes(1)), video)));
  expect((await Array.fromAsync(storage.list(''))).map(({ key }) => key).sort()).toEqual(keys.sort());
  await storage.remove(keys);
});

test('more unfinished uploads than fit in one answer are all found and removed', async () => {
  const key = objectKey('track');
  const begin = () =>
    client.send(new CreateMultipartUploadCommand({ Bucket: server.env.S3_BUCKET, Key: key }));
  await Promise.all(Array.from({ length: 45 }, begin));
  expect(await Array.fromAsync(storage.unfinished())).toHaveLength(45);
  await storage.remove([key]);
  expect(await Array.fromAsync(storage.unfinished())).toHaveLength(0);
});
