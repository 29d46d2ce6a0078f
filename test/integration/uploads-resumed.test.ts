import * as tus from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { ADMIN, createTestApp, type TestApp } from '../support/app.ts';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { freePort } from '../support/free-port.ts';

const MIB = 2 ** 20;

let app: TestApp;
let server: RunningServer;
let base: string;
beforeAll(async () => {
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  app = await createTestApp(undefined, { PUBLIC_URL: base });
  server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port });
});
afterAll(async () => {
  server.destroy();
  await app.close();
});

const HEADERS = { Authorization: ADMIN, 'Tus-Resumable': '1.0.0' };
const STREAM = { ...HEADERS, 'Content-Type': 'application/offset+octet-stream' };

async function begin(headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${base}/uploads`, { method: 'POST', headers: { ...HEADERS, ...headers } });
  expect(answer.status).toBe(201);
  return answer.headers.get('Location') ?? '';
}

const rowOf = (url: string) =>
  app.database
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', url.split('/').at(-1) ?? '')
    .executeTakeFirstOrThrow();

test('a client that knows the length at the end only may say it again after its line broke', async () => {
  const data = bytes(2 * MIB);
  const url = await begin({ 'Upload-Defer-Length': '1' });
  // The length is declared with the last chunk, of which only a part comes.
  const broken = new ReadableStream({
    start: (controller) => controller.enqueue(data.subarray(0, MIB)),
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      controller.error(new Error('the line breaks'));
    },
  });
  const headers = { ...STREAM, 'Upload-Offset': '0', 'Upload-Length': String(data.length) };
  const sent = { method: 'PATCH', headers, body: broken, duplex: 'half' } as RequestInit;
  await expect(fetch(url, sent)).rejects.toThrow();
  await new Promise<void>((onSuccess, onError) => {
    const upload = new tus.Upload(data as unknown as Blob, {
      uploadUrl: url,
      uploadLengthDeferred: true,
      chunkSize: 5 * MIB,
      retryDelays: [0, 100, 500],
      headers: { Authorization: ADMIN },
      onError,
      onSuccess: () => onSuccess(),
    });
    upload.start();
  });
  const row = await rowOf(url);
  expect(row).toMatchObject({ stored: data.length, mediatype: expect.any(String) });
  expect(sha256(await readAll(await app.storage.get(row.object_key)))).toBe(sha256(data));
});

test('another length than the one declared before is refused', async () => {
  const url = await begin({ 'Upload-Length': '10' });
  const headers = { ...STREAM, 'Upload-Offset': '0', 'Upload-Length': '11' };
  const answer = await fetch(url, { method: 'PATCH', headers, body: Buffer.alloc(10) });
  expect(answer.status).toBe(400);
  expect(await rowOf(url)).toMatchObject({ stored: 0, rest_bytes: 0, length: 10 });
});

test('whoever asks for an upload whose process was killed after the last byte finds it complete', async () => {
  const data = bytes(MIB);
  const url = await begin({ 'Upload-Defer-Length': '1' });
  const init = { method: 'PATCH', headers: { ...STREAM, 'Upload-Offset': '0' }, body: data };
  const first = await fetch(url, init as RequestInit);
  expect(first.status).toBe(204);
  // All that the last request did before.
  const id = url.split('/').at(-1) ?? '';
  await app.database.updateTable('uploads').set({ length: data.length }).where('id', '=', id).execute();
  expect(await rowOf(url)).toMatchObject({ completed_at: null });
  const state = await fetch(url, { method: 'HEAD', headers: HEADERS });
  expect([state.status, state.headers.get('Upload-Offset')]).toEqual([200, String(data.length)]);
  expect(await rowOf(url)).toMatchObject({ completed_at: expect.any(Date), stored: data.length });
});

test('a last request that is sent once more is answered like the first', async () => {
  const url = await begin({ 'Upload-Length': '3' });
  const send = (offset: number, body: string) =>
    fetch(url, { method: 'PATCH', headers: { ...STREAM, 'Upload-Offset': String(offset) }, body });
  expect((await send(0, 'abc')).status).toBe(204);
  const again = await send(3, '');
  expect([again.status, again.headers.get('Upload-Offset')]).toEqual([204, '3']);
  expect((await send(0, 'abc')).status).toBe(409);
});
