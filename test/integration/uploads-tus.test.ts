import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import * as tus from 'tus-js-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type RunningServer, serve } from '../../src/http/server/serve.ts';
import { ADMIN, createTestApp, type TestApp } from '../support/app.ts';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { freePort } from '../support/free-port.ts';
import { expectNothingLeftOver } from '../support/leftovers.ts';

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

const head = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${base}${path}`, { method: 'HEAD', headers: { ...HEADERS, ...headers } });
const HEADERS = { Authorization: ADMIN, 'Tus-Resumable': '1.0.0' };
const create = (headers: Record<string, string>, body?: Buffer) =>
  fetch(`${base}/uploads`, { method: 'POST', headers: { ...HEADERS, ...headers }, body } as RequestInit);
const patch = (
  path: string,
  offset: number,
  body: Buffer | ReadableStream,
  headers: Record<string, string> = {},
) =>
  fetch(`${base}${path}`, {
    method: 'PATCH',
    headers: {
      ...HEADERS,
      'Upload-Offset': String(offset),
      'Content-Type': 'application/offset+octet-stream',
      ...headers,
    },
    body,
    duplex: 'half',
  } as RequestInit);
const pathOf = (answer: Response) => `/uploads/${answer.headers.get('Location')?.split('/').at(-1)}`;

test.each([
  ['in one request', 100 * MIB],
  ['in chunks of 5 MiB', 5 * MIB],
])('tus-js-client uploads %s', async (_how, chunkSize) => {
  const data = bytes(23 * MIB + 5);
  const upload = await new Promise<tus.Upload>((resolve, reject) => {
    const sending = new tus.Upload(Readable.from([data]), {
      endpoint: `${base}/uploads`,
      headers: { Authorization: ADMIN },
      uploadSize: data.length,
      chunkSize,
      metadata: { filename: 'Vorlesung ü.mp4', filetype: 'video/mp4', flavor: 'presenter/source' },
      onError: reject,
      onSuccess: () => resolve(sending),
    });
    sending.start();
  });
  const id = upload.url?.split('/').at(-1) ?? '';
  const row = await app.database
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect(row).toMatchObject({
    stored: data.length,
    length: data.length,
    rest_bytes: 0,
    sha256: sha256(data),
    filename: 'Vorlesung ü.mp4',
    flavor: 'presenter/source',
  });
  expect(row.completed_at).not.toBeNull();
  expect(sha256(await readAll(await app.storage.get(row.object_key)))).toBe(sha256(data));
});

test('what came before a line broke counts', async () => {
  const data = bytes(3 * MIB);
  const path = pathOf(await create({ 'Upload-Length': String(data.length) }));
  const broken = new ReadableStream({
    start: (controller) => controller.enqueue(data.subarray(0, MIB)),
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      controller.error(new Error('the line breaks'));
    },
  });
  await expect(patch(path, 0, broken)).rejects.toThrow();
  const state = await head(path);
  const offset = Number(state.headers.get('Upload-Offset'));
  expect(offset).toBeGreaterThan(0);
  expect(offset).toBeLessThanOrEqual(MIB);
  const rest = await patch(path, offset, data.subarray(offset));
  expect([rest.status, rest.headers.get('Upload-Offset')]).toEqual([204, String(data.length)]);
});

describe('checksums', () => {
  const data = bytes(MIB);
  test('of other bytes are 460, and nothing is kept', async () => {
    const path = pathOf(await create({ 'Upload-Length': String(data.length) }));
    const answer = await patch(path, 0, data, { 'Upload-Checksum': 'sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=' });
    expect(answer.status).toBe(460);
    expect((await head(path)).headers.get('Upload-Offset')).toBe('0');
    const right = `sha1 ${createHash('sha1').update(data).digest('base64')}`;
    expect((await patch(path, 0, data, { 'Upload-Checksum': right })).status).toBe(204);
  });
});

test('an upload is nobody else’s, and gone when it is given up', async () => {
  const path = pathOf(await create({ 'Upload-Length': '10' }));
  const other = await app.account('other', 'ROLE_API_EVENTS_CREATE');
  expect((await head(path, { Authorization: other })).status).toBe(404);
  expect((await patch(path, 0, bytes(10), { Authorization: other })).status).toBe(404);
  expect((await fetch(`${base}${path}`, { method: 'DELETE', headers: HEADERS })).status).toBe(204);
  expect((await head(path)).status).toBe(404);
});

test('nothing is left of uploads that have been given up', async () => {
  for (const { id } of await app.database.selectFrom('uploads').select('id').execute()) {
    await fetch(`${base}/uploads/${id}`, { method: 'DELETE', headers: HEADERS });
  }
  await app.context.staging.sweep(undefined);
  await expectNothingLeftOver(app);
});
