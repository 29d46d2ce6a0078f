import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import * as tus from 'tus-js-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ADMIN } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { expectStored, rowOf } from '../support/resumable.ts';
import { type ServedApp, serveApp } from '../support/serve-uploads.ts';
import { describeUploads, expectFinished, halfway, SMALL, sendSome } from '../support/upload-suite.ts';

const MIB = 2 ** 20;

describeUploads('folder', SMALL, (here) => {
  /** Uploads as users of the library do. @param data where the send continues, a buffer. @returns the path */
  function send(data: Buffer | Readable, options: Partial<tus.UploadOptions>): Promise<string> {
    return new Promise((resolve, onError) => {
      // In Node the library takes a buffer as well, which its types do not know.
      const upload = new tus.Upload(data as Readable, {
        endpoint: `${here().admin.url}/uploads`,
        headers: { Authorization: ADMIN },
        onError,
        onSuccess: () => resolve(new URL(upload.url ?? '').pathname),
        ...options,
      });
      upload.start();
    });
  }

  /** Begins an upload whose length is declared later. @returns its URL and path */
  async function beginDeferred() {
    const begun = await here().admin.fetch('/uploads', {
      method: 'POST',
      headers: { 'Upload-Defer-Length': '1' },
    });
    const url = begun.headers.get('Location') ?? '';
    return { url, path: new URL(url).pathname };
  }

  test.each([
    ['in one request', 100 * MIB],
    ['in chunks of 5 MiB', 5 * MIB],
  ])('tus-js-client uploads %s', async (_how, chunkSize) => {
    const data = bytes(11 * MIB + 5);
    const metadata = { filename: 'Vorlesung ü.mp4', filetype: 'video/mp4', flavor: 'presenter/source' };
    const { filename, flavor } = metadata;
    const path = await send(Readable.from([data]), { chunkSize, metadata, uploadSize: data.length });
    const row = await expectStored(here().app, path, data);
    expect(row).toMatchObject({ sha256: sha256(data), filename, flavor });
  });

  test('a client that declares the length with the last chunk may do so again after its line broke', async () => {
    const { admin, app } = here();
    const data = bytes(2 * MIB);
    const { url, path } = await beginDeferred();
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
    const deferred = { uploadUrl: url, uploadLengthDeferred: true, uploadSize: null };
    await send(data, { ...deferred, chunkSize: 5 * MIB, retryDelays: [0, 100, 500] });
    await expectStored(app, path, data);
  });

  test('an upload whose process was killed after the last byte is complete, unless its folder is away', async () => {
    const { admin, app } = here();
    const data = bytes(MIB);
    const { path } = await beginDeferred();
    expect((await admin.patch(path, 0, data)).status).toBe(204);
    // As a process leaves it that is killed when all bytes have come, before that is noted.
    const id = path.split('/').at(-1) ?? '';
    await app.database.updateTable('uploads').set({ length: data.length }).where('id', '=', id).execute();
    expect(await rowOf(app.database, path)).toMatchObject({ completed_at: null });
    const objects = join(app.context.config.dataDir, 'objects');
    await rename(objects, `${objects}.away`);
    await mkdir(objects);
    expect((await admin.head(path)).status).toBe(503);
    await rm(objects, { recursive: true });
    await rename(`${objects}.away`, objects);
    expect(await admin.offset(path)).toBe(data.length);
    await expectStored(app, path, data);
  });
});

test('a writer stops when the database breaks the connection on which its lock rests', async () => {
  const served = await serveApp();
  onTestFinished(served.close);
  const { path, sending } = await halfway(served, SMALL, 5 * MIB, 0);
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'inlet locks' AND datname = current_database()`.execute(served.app.database);
  const { status, body, headers } = await sending.answer;
  expect([status, body, headers['retry-after']]).toEqual([503, 'The database does not answer.', '5']);
  expect(await served.admin.offset(path)).toBe(0);
  await expectFinished(served, path, SMALL);
});

describe('a client that', () => {
  let served: ServedApp;
  beforeAll(async () => {
    served = await serveApp({ UPLOAD_IDLE_SECONDS: '1' });
  });
  afterAll(() => served?.close());

  test('falls silent is given up, and what came counts', async () => {
    const { admin } = served;
    const path = await admin.create(SMALL.length);
    const sending = admin.open(path, 0, SMALL.length);
    await sending.write(SMALL.subarray(0, 5 * MIB));
    expect(await sending.answer).toMatchObject({ status: 408, body: 'Nothing was received for 1 seconds.' });
    expect(await admin.offset(path)).toBe(5 * MIB);
    await expectFinished(served, path, SMALL);
  });

  test('goes away loses nothing of what came', async () => {
    const { admin } = served;
    const path = await admin.create(SMALL.length);
    const sending = admin.open(path, 0, SMALL.length);
    await sendSome(sending, SMALL.subarray(0, 5 * MIB));
    sending.cut();
    await eventually(async () => expect(await admin.offset(path)).toBe(5 * MIB));
    await expectFinished(served, path, SMALL);
  });
});
