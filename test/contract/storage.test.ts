import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateMultipartUploadCommand, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { folderPlace } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/object-storage.ts';
import { putFile } from '#platform/storage/put-measured.ts';
import { BreakableS3 } from '../support/breakable-s3.ts';
import { bytes, sha256, source } from '../support/bytes.ts';
import { describeStorage } from '../support/storage-contract.ts';
import { storages } from '../support/storages.ts';

const MIB = 2 ** 20;
const video = { mediatype: 'video/mp4' };

// The S3 server of the tests takes seconds for large objects: storage.full.test.ts has them.
for (const [name, open] of storages) describeStorage(name, open, name === 'S3' ? ['small'] : ['small', 'large']);

describe('a folder', () => {
  const PUT_PROCESS = fileURLToPath(new URL('../support/put-process.ts', import.meta.url));

  let dataDir: string;
  let storage: ObjectStorage;
  let key: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'inlet-folder-'));
    storage = await folderPlace(dataDir).open();
    key = objectKey('track');
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  /** Puts an object of which some bytes have come. */
  async function halfPut() {
    const body = new PassThrough();
    body.write(bytes(MIB));
    const putting = storage.put(key, body, video);
    putting.catch(() => undefined);
    await expect.poll(() => Array.fromAsync(storage.unfinished())).toEqual([key]);
    expect(await Array.fromAsync(storage.list(''))).toEqual([]);
    return { body, putting };
  }

  test('that takes no more bytes in the middle of an object keeps nothing of it', async () => {
    // A limit on the size of files stands for the full disk: the write stops half-way through a chunk.
    const command = `trap '' XFSZ; ulimit -f 4100; exec "$0" "$@"`;
    const { stdout } = await promisify(execFile)('bash', [
      ...['-c', command, process.execPath, PUT_PROCESS],
      ...[dataDir, '', key, String(20 * MIB), 'stall'],
    ]);
    expect(JSON.parse(stdout)).toEqual({ stored: false, code: 'EFBIG', sourceDestroyed: true });
    expect(await Array.fromAsync(storage.list(''))).toEqual([]);
    expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
  });

  test('has its objects in files, also after it is opened again', async () => {
    await storage.put(key, source(bytes(1000)), video);
    expect(await readFile(storage.localPath(key) ?? '')).toEqual(bytes(1000));
    const again = await folderPlace(dataDir).open();
    expect(await again.size(key)).toBe(1000);
  });

  test('shows an object only when all of it has come', async () => {
    const { body, putting } = await halfPut();
    body.end();
    await putting;
    expect(await storage.size(key)).toBe(MIB);
  });

  test('does not bring an object back that was removed during its put', async () => {
    const { body, putting } = await halfPut();
    await storage.remove([key]);
    body.end();
    await expect(putting).rejects.toMatchObject({ cause: { code: 'ENOENT' } });
    expect(await Array.fromAsync(storage.list(''))).toEqual([]);
  });

  test('does not make up for lost bytes with zeros', async () => {
    const object = { key, handle: '' };
    await storage.begin(key, video);
    const options = { onPiece: async () => undefined, onRest: async () => undefined };
    await storage.append(object, 0, source(bytes(2 * MIB)), options);
    await truncate(join(dataDir, 'objects', '.unfinished', key.replaceAll('/', '_')), MIB);
    const appending = storage.append(object, 2 * MIB, source(bytes(MIB)), options);
    await expect(appending).rejects.toThrow(ObjectNotFound);
  });

  test('takes a file that has no other name without a copy, and nothing else', async () => {
    const at = (name: string) => join(dataDir, name);
    await writeFile(at('result'), bytes(1000), { mode: 0o600 });
    const stored = await putFile(storage, key, at('result'), video);
    expect(stored).toEqual({ size: 1000, sha256: sha256(bytes(1000)) });
    const inode = async (path: string) => (await stat(path)).ino;
    expect(await inode(storage.localPath(key) ?? '')).toBe(await inode(at('result')));
    await symlink(at('result'), at('link'));
    for (const other of ['result', 'link']) {
      const copy = objectKey('element');
      expect(await putFile(storage, copy, at(other), video)).toEqual(stored);
      expect(await inode(storage.localPath(copy) ?? '')).not.toBe(await inode(at('result')));
      const permissions = async (name: string) => (await stat(storage.localPath(name) ?? '')).mode;
      expect(await permissions(key)).toBe(await permissions(copy));
    }
    expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
  });

  test('copies a file of another disk', { skip: !existsSync('/dev/shm') }, async () => {
    const folder = await mkdtemp('/dev/shm/inlet-');
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'result'), bytes(1000));
    const stored = await putFile(storage, key, join(folder, 'result'), video);
    expect(stored).toEqual({ size: 1000, sha256: sha256(bytes(1000)) });
    expect(await readFile(storage.localPath(key) ?? '')).toEqual(bytes(1000));
  });

  test('that is gone fails a check', async () => {
    await rm(dataDir, { recursive: true });
    await expect(storage.check()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('S3', () => {
  const s3 = BreakableS3.forThisGroup();

  test('leaves nothing of an object whose completion it refuses', async () => {
    s3.intercept('CompleteMultipartUploadCommand', async () => {
      throw Object.assign(new Error('The store refuses.'), { name: 'InvalidPart' });
    });
    const options = { ...video, expectedBytes: 6 * MIB };
    await expect(s3.storage.put(objectKey('track'), source(bytes(6 * MIB)), options)).rejects.toMatchObject({
      cause: { message: 'The store refuses.' },
    });
    await s3.expectNothingLeft();
  });

  test('leaves no doubt when it refuses a put, and fails a check', async () => {
    const onDoubt = vi.fn();
    await s3.server.refuse();
    onTestFinished(() => s3.server.accept());
    const putting = s3.storage.put(objectKey('track'), source(bytes(10)), { ...video, onDoubt });
    await expect(putting).rejects.toThrow();
    expect(onDoubt).not.toHaveBeenCalled();
    await expect(s3.storage.check()).rejects.toThrow();
  });

  test('leaves a doubt when a put had to be sent again', async () => {
    const broken = s3.breakFirst('PutObjectCommand', { performed: false });
    const onDoubt = vi.fn();
    const key = objectKey('track');
    await s3.storage.put(key, source(bytes(10)), { ...video, onDoubt });
    expect(broken()).toBe(true);
    expect(onDoubt).toHaveBeenCalled();
    await s3.storage.remove([key]);
  });

  test.each([
    ['small', 10],
    ['in parts', 6 * MIB],
  ])('leaves no doubt when the sender goes away (%s)', async (_size, length) => {
    const onDoubt = vi.fn();
    const options = { ...video, onDoubt, expectedBytes: 12 * MIB };
    const putting = s3.storage.put(objectKey('track'), source(bytes(length), new Error('gone')), options);
    await expect(putting).rejects.toThrow('gone');
    expect(onDoubt).not.toHaveBeenCalled();
    await s3.expectNothingLeft();
  });

  test('leaves no second object in pieces that was begun twice because an answer was lost', async () => {
    const broken = s3.breakFirst('CreateMultipartUploadCommand', { performed: true });
    const key = objectKey('track');
    const object = { key, handle: await s3.storage.begin(key, video) };
    const options = { onPiece: async () => undefined, onRest: async () => undefined };
    await s3.storage.append(object, 0, source(bytes(10)), options);
    await s3.storage.complete(object, [], bytes(10));
    expect(broken()).toBe(true);
    expect(await s3.storage.size(key)).toBe(10);
    await s3.storage.remove([key]);
    await s3.expectNothingLeft();
  });

  test('leaves files of others in the bucket alone', async () => {
    const foreign = { Bucket: s3.bucket, Key: 'backup/2026.tar' };
    await s3.client.send(new PutObjectCommand({ ...foreign, Body: 'x' }));
    await s3.client.send(new CreateMultipartUploadCommand(foreign));
    await s3.expectNothingLeft();
    await s3.client.send(new DeleteObjectCommand(foreign));
  });

  test('lists all objects when they do not fit in one answer', async () => {
    const keys = Array.from({ length: 45 }, () => objectKey('track'));
    await Promise.all(keys.map((key) => s3.storage.put(key, source(bytes(1)), video)));
    expect((await Array.fromAsync(s3.storage.list(''))).map(({ key }) => key).sort()).toEqual(keys.sort());
    await s3.storage.remove(keys);
  });
});
