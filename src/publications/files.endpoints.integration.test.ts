import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { endpointApp } from '../../test/support/endpoint-app.ts';
import { insertElement, insertEvent, insertPublication } from '../../test/support/publication.ts';
import { FolderStorage } from '../storage/folder.ts';
import { forPlayersElsewhere, publishedFile } from './files.endpoints.ts';

const SIZE = 3_000_000;
const bytes = randomBytes(SIZE);
const folder = join(tmpdir(), `inlet-files-${randomUUID()}`);

let db: TestDatabase;
let storage: FolderStorage;
let app: Hono;
let eventId: string;
let publicationId: string;
let path: string;
let etag: string;

beforeAll(async () => {
  db = await createTestDatabase();
  storage = await new FolderStorage(folder).open();
  app = endpointApp(
    [publishedFile],
    { database: db.database, storage, addresses: { publicUrl: 'http://inlet.test' } },
    { areas: [{ path: '/publications', layers: [forPlayersElsewhere()] }] },
  );
  eventId = await insertEvent(db.database);
  publicationId = await insertPublication(db.database, eventId);
  ({ path, etag } = await publishFile(bytes));
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

async function publishFile(content: Uint8Array) {
  const element = await insertElement(db.database, storage, content, {
    event_id: eventId,
    publication_id: publicationId,
    kind: 'media',
    filename: 'presenter.mp4',
    mediatype: 'video/mp4',
  });
  return {
    element,
    path: `/publications/${publicationId}/${element.id}/presenter.mp4`,
    etag: `"${element.sha256}"`,
  };
}

async function get(headers: Record<string, string> = {}, method = 'GET') {
  const response = await app.request(path, { method, headers });
  return { response, body: Buffer.from(await response.arrayBuffer()) };
}

/** How many files below the storage's folder this process has open. */
async function openFiles(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((target) => target.startsWith(folder)).length;
}

test('a file is served whole with what players and caches need', async () => {
  const { response, body } = await get();
  expect(response.status).toBe(200);
  expect(body.equals(bytes)).toBe(true);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': String(SIZE),
    'accept-ranges': 'bytes',
    etag,
    'cache-control': 'public, max-age=3600',
    'content-disposition': 'inline; filename="presenter.mp4"',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  });
  expect(response.headers.get('Content-Security-Policy')).toMatch(/^sandbox;/);
});

test.each([
  ['bytes=0-0', 0, 0],
  ['bytes=1000-1999', 1000, 1999],
  ['bytes=2999999-', SIZE - 1, SIZE - 1],
  ['bytes=2999000-99999999', SIZE - 1000, SIZE - 1],
  ['bytes=-500', SIZE - 500, SIZE - 1],
])('%s is answered with that part', async (range, start, end) => {
  const { response, body } = await get({ Range: range });
  expect(response.status).toBe(206);
  expect(response.headers.get('Content-Range')).toBe(`bytes ${start}-${end}/${SIZE}`);
  expect(response.headers.get('Content-Length')).toBe(String(end - start + 1));
  expect(body.equals(bytes.subarray(start, end + 1))).toBe(true);
});

test.each(['bytes=3000000-', 'bytes=-0'])('%s is refused with the size', async (range) => {
  const { response } = await get({ Range: range });
  expect(response.status).toBe(416);
  expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(response.headers.get('Content-Range')).toBe(`bytes */${SIZE}`);
});

test.each(['bytes=0-1,5-6', 'bytes=9-5', 'pages=1-2', 'bytes=x'])('%s is answered whole', async (range) => {
  const { response, body } = await get({ Range: range });
  expect(response.status).toBe(200);
  expect(body.length).toBe(SIZE);
});

test('a range is served under If-Range only while the file is the same', async () => {
  const range = { Range: 'bytes=0-9' };
  expect((await get({ ...range, 'If-Range': etag })).response.status).toBe(206);
  expect((await get({ ...range, 'If-Range': '"other"' })).body.length).toBe(SIZE);
  expect((await get({ ...range, 'If-Range': `W/${etag}` })).response.status).toBe(200);
});

test('who has the file already gets 304, range or not', async () => {
  const { response, body } = await get({ 'If-None-Match': `"x", ${etag}`, Range: 'bytes=0-9' });
  expect(response.status).toBe(304);
  expect(response.headers.get('ETag')).toBe(etag);
  expect(response.headers.get('Cache-Control')).toBe('public, max-age=3600');
  expect(body.length).toBe(0);
  expect((await get({ 'If-None-Match': '"x"' })).response.status).toBe(200);
});

test('HEAD has the headers of the whole file and opens nothing', async () => {
  const opened = vi.spyOn(storage, 'get');
  const { response, body } = await get({ Range: 'bytes=0-9' }, 'HEAD');
  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Length')).toBe(String(SIZE));
  expect(response.headers.get('ETag')).toBe(etag);
  expect(body.length).toBe(0);
  expect(opened).not.toHaveBeenCalled();
  opened.mockRestore();
});

test('a player on another site may ask for ranges', async () => {
  const response = await app.request(path, {
    method: 'OPTIONS',
    headers: { Origin: 'https://lms.example', 'Access-Control-Request-Method': 'GET' },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get('Access-Control-Allow-Headers')).toContain('Range');
  expect(response.headers.get('Access-Control-Allow-Methods')).toBe('GET,HEAD');
});

test('a client that goes away leaves no file open', async () => {
  for (let i = 0; i < 20; i++) {
    const response = await app.request(path, { headers: i % 2 ? { Range: 'bytes=5-' } : {} });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(await openFiles()).toBe(1);
    await reader?.cancel();
    await vi.waitFor(async () => expect(await openFiles()).toBe(0), 20_000);
  }
});

test('an answer that nobody reads at all leaves no file open once it is cancelled', async () => {
  const response = await app.request(path);
  await response.body?.cancel();
  await vi.waitFor(async () => expect(await openFiles()).toBe(0), 20_000);
});

test('an empty file can be asked for', async () => {
  const empty = await publishFile(new Uint8Array());
  const whole = await app.request(empty.path);
  expect([whole.status, whole.headers.get('Content-Length'), await whole.text()]).toEqual([200, '0', '']);
  expect((await app.request(empty.path, { headers: { Range: 'bytes=0-' } })).status).toBe(416);
});

test('an object that vanished under its row is 404', async () => {
  const gone = await publishFile(randomBytes(10));
  await storage.remove([gone.element.object_key]);
  const response = await app.request(gone.path);
  expect(response.status).toBe(404);
  expect(response.headers.get('Cache-Control')).toBe('no-store');
});

test('what is prepared but not published is 404', async () => {
  const prepared = await insertElement(db.database, storage, randomBytes(10), {
    event_id: eventId,
    kind: 'media',
  });
  expect((await app.request(`/publications/${publicationId}/${prepared.id}/file.bin`)).status).toBe(404);
  expect((await app.request(`/publications/null/${prepared.id}/file.bin`)).status).toBe(404);
});

test('only the exact address of an element is good', async () => {
  const [, , publication, element, filename] = path.split('/');
  for (const wrong of [
    `/publications/${randomUUID()}/${element}/${filename}`,
    `/publications/${publication}/${randomUUID()}/${filename}`,
    `/publications/${publication}/${element}/other.mp4`,
    `/publications/${publication}/${element}/presenter.mp4.html`,
    `/publications/${publication}/${element}/${encodeURIComponent('../presenter.mp4')}`,
    `/publications/${publication}/${element}/%00`,
    `/publications/${publication}/${element}/%ff`,
    `/publications/${publication}/x/${filename}`,
    `/publications/x/${element}/${filename}`,
    `/publications/${publication}'/${element}/${filename}`,
    `/publications/${publication}/${element}`,
    `/publications/${publication}`,
    '/publications/',
  ]) {
    expect([wrong, (await app.request(wrong)).status]).toEqual([wrong, 404]);
  }
});
