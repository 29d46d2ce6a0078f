import { randomBytes, randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forPlayersElsewhere, publishedFile } from '../../src/publications/files.endpoints.ts';
import { UrlSigner } from '../../src/publications/signing/url-signer.ts';
import { watchPage } from '../../src/publications/watch.endpoints.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { storages, type TestStorage } from '../support/storages.ts';

const PUBLIC_URL = 'https://video.example/inlet';
const PEER = '10.0.0.1';
const bytes = randomBytes(50_000);
const signer = new UrlSigner({ keyId: 'inlet', secret: 'secret', ttlSeconds: 60 });

describe.each(storages)('with signed addresses, files in a %s', (_name, start) => {
  let place: TestStorage;
  let db: TestDatabase;
  let app: Hono;
  let file: string;
  let page: string;

  beforeAll(async () => {
    place = await start();
    db = await createTestDatabase();
    const { database } = db;
    const { storage } = place;
    const addresses = { signer, publicUrl: PUBLIC_URL };
    const areas = [{ path: '/publications', layers: [forPlayersElsewhere()] }];
    app = endpointApp([watchPage, publishedFile], { database, storage, addresses }, { areas });
    const event_id = await insertEvent(database, { duration: 600_000 });
    const publication_id = await insertPublication(database, event_id);
    const values = {
      event_id,
      publication_id,
      kind: 'media',
      filename: 'a.mp4',
      mediatype: 'video/mp4',
    } as const;
    const { id } = await insertElement(database, storage, bytes, values);
    file = `${PUBLIC_URL}/publications/${publication_id}/${id}/a.mp4`;
    page = `${PUBLIC_URL}/watch/${publication_id}`;
  });
  afterAll(async () => {
    await db?.close();
    await place?.stop();
  });

  const sign = (url: string, seconds = 60, source?: string) =>
    signer.sign(url, { validUntil: Date.now() + seconds * 1000, source });

  /** Asks as a proxy does that knows the server by another name and takes the path of the public URL away. */
  const ask = async (url: string, init: RequestInit = {}) =>
    app.request(url.replace(PUBLIC_URL, 'http://127.0.0.1:8080'), init, { remoteAddress: PEER });

  test('a file is had whole, in parts and as headers alone', async () => {
    const url = sign(file);
    const whole = await ask(url);
    expect(whole.status).toBe(200);
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await ask(url, { headers: { Range: 'bytes=100-199' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200))).toBe(true);
    const head = await ask(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('Content-Length')]).toEqual([200, String(bytes.length)]);
  });

  test.each(['GET', 'HEAD'])('%s without a good signature gets nothing', async (method) => {
    const cases: [string, number][] = [
      [file, 400],
      [`${sign(file).split('&signature')[0]}`, 400],
      [`${file}${new URL(sign(page)).search}`, 403],
      [sign(file).replace(/.$/, (last) => (last === '0' ? '1' : '0')), 403],
      [`${sign(file)}&download=1`, 403],
      [sign(file, 60, '10.0.0.2'), 403],
      [sign(file, -1), 410],
    ];
    for (const [url, status] of cases) {
      const answer = await ask(url, { method, headers: { Range: 'bytes=0-9' } });
      expect([url, answer.status]).toEqual([url, status]);
      expect(answer.headers.get('Cache-Control')).toBe('no-store');
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
      const body = await answer.text();
      if (method === 'GET') expect(body).toMatch(/^[A-Z][^{}<>]+\.$/);
    }
  });

  test('an address for the computer that asks is good', async () => {
    expect((await ask(sign(file, 60, PEER))).status).toBe(200);
  });

  test('no cache may keep a file longer than its address is good, nor for others', async () => {
    const caching = async (seconds: number) =>
      (await ask(sign(file, seconds), { method: 'HEAD' })).headers.get('Cache-Control');
    expect(await caching(86_400)).toBe('private, max-age=3600');
    const left = Number(/^private, max-age=(\d+)$/.exec((await caching(30)) ?? '')?.[1]);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(30);
  });

  test('whether a file exists is told to those with a signature only', async () => {
    const other = file.replace('a.mp4', 'b.mp4');
    expect((await ask(other)).status).toBe(400);
    expect((await ask(sign(other))).status).toBe(404);
  });

  test('the watch page needs a signature and signs the addresses of its files for whoever has it', async () => {
    expect((await ask(sign(page, -1))).status).toBe(410);
    const refused = await ask(page);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('This link does not work');
    expect((await ask(sign(`${PUBLIC_URL}/watch/${randomUUID()}`))).status).toBe(404);

    const answer = await ask(sign(page, 60, PEER));
    expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([200, 'private, no-store']);
    const text = await answer.text();
    const source = /<video src="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(source.startsWith('../publications/')).toBe(true);
    const url = new URL(source, page).href;
    expect((await ask(url)).status).toBe(200);
    // Also while it is watched to its end, and by nobody else.
    const tenMinutes = Date.now() + 610_000;
    expect(signer.verify(url, PEER, tenMinutes)).toMatchObject({ source: PEER });
    expect(signer.verify(url, '10.0.0.2')).toMatchObject({ status: 403 });
    expect(signer.verify(url, PEER, Date.now() + 670_000)).toMatchObject({ status: 410 });
  });
});
