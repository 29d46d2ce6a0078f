import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { objectKey } from '#platform/storage/object-keys.ts';
import { S3Storage } from '#platform/storage/s3.ts';
import { BreakableS3 } from '../support/breakable-s3.ts';
import { bytes, readAll, sha256, source } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { describeStorage } from '../support/storage-contract.ts';
import { storages } from '../support/storages.ts';

const MIB = 2 ** 20;
const video = { mediatype: 'video/mp4' };

for (const [name, open] of storages) if (name === 'S3') describeStorage(name, open, ['large']);

describe('S3', () => {
  const s3 = BreakableS3.forThisGroup();
  /** The same storage, but that it counts as silent soon; not so soon that one counts that is only slow. */
  const impatient = (answerMs = 5_000) => {
    const limits = { patienceMs: 50, answerMs, idleMs: 5_000 };
    return new S3Storage({ ...s3.clients, bucket: s3.bucket, limits });
  };
  const unfinished = () => Array.fromAsync(s3.storage.unfinished());

  /** Puts an object whose sender has stalled after some parts. */
  async function stalledPut(storage = s3.storage, signal?: AbortSignal) {
    const key = objectKey('track');
    const body = source(bytes(30 * MIB), 'stall');
    const putting = storage.put(key, body, { ...video, ...(signal && { signal }) });
    putting.catch(() => undefined);
    await expect.poll(unfinished).toContain(key);
    return { key, body, putting };
  }

  function pause(): void {
    s3.server.pause();
    onTestFinished(() => s3.server.resume());
  }

  test('a refused part ends a put whose sender has stalled', async () => {
    const { body, putting } = await stalledPut();
    await s3.server.refuse();
    onTestFinished(() => s3.server.accept());
    body.push(bytes(8 * MIB));
    // A part under way learns of the missing upload before the missing bucket.
    const refusal = { name: expect.stringMatching(/^NoSuch(Bucket|Upload)$/) };
    await expect(putting).rejects.toMatchObject({ cause: refusal });
    expect(body.errored).toMatchObject(refusal);
  });

  test('a server that dies in the middle ends the put', async () => {
    const { body, putting } = await stalledPut();
    await s3.server.kill();
    body.push(bytes(8 * MIB));
    const code = expect.stringMatching(/ECONNREFUSED|ECONNRESET/);
    await expect(putting).rejects.toMatchObject({ cause: { code } });
    expect(body.destroyed).toBe(true);
    await expect(s3.storage.check()).rejects.toThrow();
    await s3.server.restart();
    await eventually(() => s3.storage.check());
    await s3.storage.remove(await unfinished());
    await s3.expectNothingLeft();
  });

  test.each([
    ['a part that is lost on the way is sent again', 'UploadPartCommand', false],
    ['an upload begun twice because an answer was lost leaves no second one', 'CreateMultipartUploadCommand', true],
    ['an object completed by a request whose answer was lost is kept', 'CompleteMultipartUploadCommand', true],
  ])('%s', async (_what, command, performed) => {
    const broken = s3.breakFirst(command, { performed });
    const data = bytes(20 * MIB);
    const key = objectKey('track');
    const onDoubt = vi.fn();
    await s3.storage.put(key, source(data), { ...video, onDoubt });
    expect(broken()).toBe(true);
    if (command === 'CompleteMultipartUploadCommand') expect(onDoubt).not.toHaveBeenCalled();
    expect(await unfinished()).toEqual([]);
    expect(sha256(await readAll(await s3.storage.get(key)))).toBe(sha256(data));
    await s3.storage.remove([key]);
  });

  test.each([
    ['gone', 'ObjectNotFound'],
    ['there', 'StorageRefused'],
  ])(
    'a part whose connection breaks for good means that the storage failed, unless its upload is gone: %s',
    async (where, name) => {
      s3.intercept('UploadPartCommand', async () => {
        throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
      });
      const key = objectKey('track');
      const handle = await s3.storage.begin(key, { ...video, expectedBytes: 12 * MIB });
      if (where === 'gone') await s3.storage.remove([key]);
      const nothing = async () => undefined;
      const appending = s3.storage.append({ key, handle }, 0, source(bytes(12 * MIB)), {
        onPiece: nothing,
        onRest: nothing,
      });
      await expect(appending).rejects.toMatchObject({ name });
      await s3.storage.remove([key]);
    },
  );

  test('a put can be aborted while the server hangs, and is known afterwards', async () => {
    const controller = new AbortController();
    const { body, putting } = await stalledPut(s3.storage, controller.signal);
    pause();
    controller.abort(new Error('the process stops'));
    expect(body.destroyed).toBe(true);
    const aborted = { name: 'AbortError' };
    await expect(s3.storage.check(AbortSignal.timeout(300))).rejects.toMatchObject(aborted);
    s3.server.resume();
    await expect(putting).rejects.toThrow('the process stops');
    await s3.expectNothingLeft();
  });

  test.each([
    ['not answered', 'PutObjectCommand', 10],
    ['begun again', 'CreateMultipartUploadCommand', 20 * MIB],
  ])('a put leaves a doubt when it was %s', async (how, command, size) => {
    const onDoubt = vi.fn();
    const key = objectKey('track');
    const putting = { ...video, onDoubt };
    if (how === 'not answered') {
      pause();
      const silent = impatient().put(key, source(bytes(size)), putting);
      await expect(silent).rejects.toMatchObject({ cause: { name: 'StorageSilent' } });
      s3.server.resume();
    } else {
      const broken = s3.breakFirst(command, { performed: false });
      await s3.storage.put(key, source(bytes(size)), putting);
      expect(broken()).toBe(true);
    }
    expect(onDoubt).toHaveBeenCalledOnce();
    await s3.storage.remove([key]);
  });

  test('a server that takes connections and never answers ends every request', async () => {
    const silent = impatient();
    const { key, body, putting } = await stalledPut(silent);
    pause();
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
    s3.server.resume();
    await s3.storage.remove(await unfinished());
    await s3.expectNothingLeft();
  });

  test('a server that falls silent in the middle of an object ends its reader', async () => {
    const key = objectKey('track');
    await s3.storage.put(key, source(bytes(30 * MIB)), video);
    const reader = (await impatient().get(key)).getReader();
    await reader.read();
    pause();
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow('The object storage stopped sending an object.');
    s3.server.resume();
    await s3.storage.remove([key]);
  });

  test('a request that takes long is not cut while the server answers others', async () => {
    let slow = 0;
    for (const command of ['UploadPartCommand', 'CompleteMultipartUploadCommand'])
      s3.intercept(command, async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        slow += 1;
      });
    const key = objectKey('track');
    await impatient(60_000).put(key, source(bytes(12 * MIB)), { ...video, expectedBytes: 12 * MIB });
    expect(slow).toBeGreaterThanOrEqual(4);
    await s3.storage.remove([key]);
  });

  test('more unfinished uploads than fit in one answer are all found and removed', async () => {
    const key = objectKey('track');
    const begin = () => s3.client.send(new CreateMultipartUploadCommand({ Bucket: s3.bucket, Key: key }));
    await Promise.all(Array.from({ length: 45 }, begin));
    expect(await unfinished()).toHaveLength(45);
    await s3.storage.remove([key]);
    expect(await unfinished()).toHaveLength(0);
  });
});
