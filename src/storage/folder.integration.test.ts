import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bytes, source } from '../../test/support/bytes.ts';
import { createStorage } from './create.ts';
import { objectKey } from './keys.ts';
import { ObjectNotFound, type ObjectStorage } from './port.ts';

const MIB = 2 ** 20;
const PUT_PROCESS = fileURLToPath(new URL('../../test/support/put-process.ts', import.meta.url));

let dataDir: string;
let storage: ObjectStorage;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'inlet-folder-'));
  storage = await createStorage({ s3: undefined, dataDir });
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('a disk that takes no more bytes in the middle leaves nothing', async () => {
  // A limit on the size of files stands for the full disk: the write stops half-way through a chunk.
  const command = `trap '' XFSZ; ulimit -f 4100; exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)('bash', [
    ...['-c', command, process.execPath, PUT_PROCESS],
    ...[dataDir, '', objectKey('track'), String(20 * MIB), 'stall'],
  ]);
  expect(JSON.parse(stdout)).toEqual({ stored: false, code: 'EFBIG', sourceDestroyed: true });
  expect(await Array.fromAsync(storage.list(''))).toEqual([]);
  expect(await Array.fromAsync(storage.unfinished())).toEqual([]);
});

test('an object can be read in place', async () => {
  const key = objectKey('track');
  await storage.put(key, source(bytes(1000)), { mediatype: 'video/mp4' });
  expect(await readFile(storage.localPath(key) ?? '')).toEqual(bytes(1000));
});

test('an object appears only when all of it is there', async () => {
  const key = objectKey('track');
  const body = new PassThrough();
  body.write(bytes(MIB));
  const putting = storage.put(key, body, { mediatype: 'video/mp4' });
  await expect.poll(() => Array.fromAsync(storage.unfinished())).toEqual([key]);
  expect(await Array.fromAsync(storage.list(''))).toEqual([]);
  body.end();
  await putting;
  expect(await storage.size(key)).toBe(MIB);
});

test('a put whose object was removed meanwhile does not bring it back', async () => {
  const key = objectKey('track');
  const body = new PassThrough();
  body.write(bytes(MIB));
  const putting = storage.put(key, body, { mediatype: 'video/mp4' });
  await expect.poll(() => Array.fromAsync(storage.unfinished())).toEqual([key]);
  await storage.remove([key]);
  body.end();
  await expect(putting).rejects.toMatchObject({ cause: { code: 'ENOENT' } });
  expect(await Array.fromAsync(storage.list(''))).toEqual([]);
});

test('bytes that a file has lost are not made up for with zeros', async () => {
  const object = { key: objectKey('track'), handle: '' };
  await storage.begin(object.key, { mediatype: 'video/mp4' });
  const options = { onPiece: async () => undefined, onRest: async () => undefined };
  await storage.append(object, 0, source(bytes(2 * MIB)), options);
  await truncate(join(dataDir, 'objects', '.unfinished', object.key.replaceAll('/', '_')), MIB);
  await expect(storage.append(object, 2 * MIB, source(bytes(MIB)), options)).rejects.toThrow(ObjectNotFound);
});

test('a check fails when the folder is gone', async () => {
  await rm(dataDir, { recursive: true });
  await expect(storage.check()).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a folder is opened again with what it holds', async () => {
  const key = objectKey('track');
  await storage.put(key, source(bytes(10)), { mediatype: 'video/mp4' });
  const again = await createStorage({ s3: undefined, dataDir });
  expect(await again.size(key)).toBe(10);
});
