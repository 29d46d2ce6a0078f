import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import * as tus from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { expectStored, rowOf } from '../support/resumable.ts';
import { type ServedApp, serveApp } from '../support/serve-uploads.ts';

const MIB = 2 ** 20;

let served: ServedApp;
beforeAll(async () => {
  served = await serveApp();
});
afterAll(() => served?.close());

/** Uploads as users of the library do. @param data where the send goes on somewhere, a buffer. @returns the path */
function send(data: Buffer | Readable, options: Partial<tus.UploadOptions>): Promise<string> {
  return new Promise((resolve, onError) => {
    // In Node the library takes a buffer as well, which its types do not know.
    const upload = new tus.Upload(data as Readable, {
      endpoint: `${served.admin.url}/uploads`,
      headers: { Authorization: ADMIN },
      onError,
      onSuccess: () => resolve(new URL(upload.url ?? '').pathname),
      ...options,
    });
    upload.start();
  });
}

test.each([
  ['in one request', 100 * MIB],
  ['in chunks of 5 MiB', 5 * MIB],
])('tus-js-client uploads %s', async (_how, chunkSize) => {
  const data = bytes(23 * MIB + 5);
  const metadata = { filename: 'Vorlesung ü.mp4', filetype: 'video/mp4', flavor: 'presenter/source' };
  const { filename, flavor } = metadata;
  const path = await send(Readable.from([data]), { chunkSize, metadata, uploadSize: data.length });
  const row = await expectStored(served.app, path, data);
  expect(row).toMatchObject({ sha256: sha256(data), filename, flavor });
});

test('a client that knows the length at the end only may say it again after its line broke', async () => {
  const { admin, app } = served;
  const data = bytes(2 * MIB);
  const begun = await admin.fetch('/uploads', { method: 'POST', headers: { 'Upload-Defer-Length': '1' } });
  const url = begun.headers.get('Location') ?? '';
  const path = new URL(url).pathname;
  // The length is declared with the last chunk, of which only a part comes.
  const declared = Promise.withResolvers<void>();
  const broken = new ReadableStream({
    start: (controller) => controller.enqueue(data.subarray(0, MIB)),
    pull: async (controller) => {
      await declared.promise;
      await pause(100);
      controller.error(new Error('the line breaks'));
    },
  });
  const headers = {
    'Content-Type': 'application/offset+octet-stream',
    'Upload-Offset': '0',
    'Upload-Length': String(data.length),
  };
  const sent = { method: 'PATCH', headers, body: broken, duplex: 'half' } as RequestInit;
  const sending = expect(admin.fetch(path, sent)).rejects.toThrow();
  await eventually(async () => expect((await rowOf(app.database, path)).length).toBe(data.length));
  declared.resolve();
  await sending;
  await send(data, {
    uploadUrl: url,
    uploadLengthDeferred: true,
    uploadSize: null,
    chunkSize: 5 * MIB,
    retryDelays: [0, 100, 500],
  });
  await expectStored(app, path, data);
});

/** Uploads as a process does that is killed when all bytes are there and before that is noted. @returns the path */
async function allButNoted(data: Buffer): Promise<string> {
  const { admin, app } = served;
  const begun = await admin.fetch('/uploads', { method: 'POST', headers: { 'Upload-Defer-Length': '1' } });
  const path = new URL(begun.headers.get('Location') ?? '').pathname;
  expect((await admin.patch(path, 0, data)).status).toBe(204);
  const id = path.split('/').at(-1) ?? '';
  await app.database.updateTable('uploads').set({ length: data.length }).where('id', '=', id).execute();
  return path;
}

test('an upload is not given up because the folder of the storage is away', async () => {
  const { admin, app } = served;
  const data = bytes(MIB);
  const path = await allButNoted(data);
  const objects = join(app.context.config.dataDir, 'objects');
  await rename(objects, `${objects}.away`);
  await mkdir(objects);
  expect((await admin.head(path)).status).toBe(503);
  await rm(objects, { recursive: true });
  await rename(`${objects}.away`, objects);
  expect(await admin.offset(path)).toBe(data.length);
  await expectStored(app, path, data);
});

test('whoever asks for an upload whose process was killed after the last byte finds it complete', async () => {
  const { admin, app } = served;
  const data = bytes(MIB);
  const path = await allButNoted(data);
  expect(await rowOf(app.database, path)).toMatchObject({ completed_at: null });
  expect(await admin.offset(path)).toBe(data.length);
  await expectStored(app, path, data);
});
