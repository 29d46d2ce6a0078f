import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { watchAsset, watchPage } from '#pages/watch/watch.endpoints.ts';
import { publicationCors, publishedFile } from '#publications/files.endpoints.ts';
import { UrlSigner } from '#publications/signing/url-signer.ts';
import { ownApp, workerApp } from '../support/app.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { ace } from '../support/series.ts';

const SIGNING = { URL_SIGNING_SECRET: 'secret', URL_SIGNING_KEY_ID: 'demoKeyOne', URL_SIGNING_TTL: '600' };
const CANNOT = { error: 'Given URL cannot be signed' };
const BYTES = randomBytes(50_000);

const app = await ownApp(undefined, SIGNING);
const event = await insertEvent(app.database, { duration: 600_000 });
await giveAcl(app, event, [ace('ROLE_A')]);
const published = await publish(event, 'engage-player');
const internal = (await publish(event, 'internal')).publication;
const page = `http://inlet.test${published.page}`;
const file = `http://inlet.test${published.file}`;

async function publish(event_id: string, channel: string) {
  const publication_id = await insertPublication(app.database, event_id, channel);
  const values = { event_id, publication_id, kind: 'media', filename: 'a.mp4' } as const;
  const media = { ...values, mediatype: 'video/mp4' };
  const { id } = await insertElement(app.database, app.storage, BYTES, media);
  const file = `/publications/${publication_id}/${id}/a.mp4`;
  return { publication: publication_id, page: `/watch/${publication_id}`, file };
}

const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  app.request('/api/security/sign', { method: 'POST', body: new URLSearchParams(fields), headers });
const signed = async (fields: Record<string, string>, headers = {}) => (await post(fields, headers)).json();
const json = async (path: string, version = '1.11.0') =>
  (await app.request(path, { headers: { Accept: `application/v${version}+json` } })).json();

describe('POST /api/security/sign', () => {
  test('signs the page and the files of a publication for the configured time', async () => {
    for (const url of [page, file, `${file}?start=10`]) {
      const before = Date.now();
      const answer = await post({ url });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Content-Type')).toBe('application/v1.11.0+json');
      const body = await answer.json();
      expect(Object.keys(body)).toEqual(['url', 'valid-until']);
      expect(body.url.startsWith(`${url}${url.includes('?') ? '&' : '?'}policy=`)).toBe(true);
      expect(body['valid-until']).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
      const end = Date.parse(body['valid-until']);
      expect(end).toBeGreaterThan(before + 598_000);
      expect(end).toBeLessThanOrEqual(Date.now() + 600_000);
      expect((await app.request(body.url)).status).toBe(200);
    }
  });

  test('an end in the past is signed as well, and over', async () => {
    const body = await signed({ url: file, 'valid-until': '2016-04-13T10:15:30+02:00' });
    expect(body['valid-until']).toBe('2016-04-13T08:15:30Z');
    expect((await app.request(body.url)).status).toBe(410);
  });

  test('valid-source becomes part of the policy', async () => {
    const body = await signed({ url: file, 'valid-source': '10.0.0.1' });
    const policy = Buffer.from(new URL(body.url).searchParams.get('policy') ?? '', 'base64url').toString();
    expect(policy).toContain('"IpAddress":"10.0.0.1"');
    expect((await app.request(body.url)).status).toBe(403);
  });

  test('an address that Inlet does not publish cannot be signed', async () => {
    const urls = [
      ...['http://localhost', 'nonsense', 'http://inlet.test/api/events', 'http://inlet.test/publications/'],
      ...[page.replace('inlet', 'other'), page.replace('http', 'https'), page.replace('//', '//user:pw@')],
      ...[`http://inlet.test/watch/${randomUUID()}`, 'http://inlet.test/watch/x%00', `${file}/more`],
      ...[file.replace('a.mp4', 'b.mp4'), file.replace('/publications/', '/publications/../api/')],
    ];
    for (const url of urls) {
      const answer = await post({ url });
      expect([url, answer.status, await answer.json()]).toEqual([url, 200, CANNOT]);
    }
  });

  test('an address of an event the caller may not read is answered like one that is not there', async () => {
    const a = { Authorization: await app.account('a', 'ROLE_API_SECURITY_EDIT', 'ROLE_A') };
    const b = { Authorization: await app.account('b', 'ROLE_API_SECURITY_EDIT', 'ROLE_B') };
    for (const url of [page, file]) {
      expect(await signed({ url }, a)).toHaveProperty('url');
      const hidden = await post({ url }, b);
      const absent = await post({ url: url.replace(published.publication, randomUUID()) }, b);
      expect([hidden.status, await hidden.text()]).toEqual([200, await absent.text()]);
      expect(await signed({ url }, { 'X-RUN-WITH-ROLES': 'ROLE_B' })).toEqual(CANNOT);
    }
  });

  const mandatory = "Query parameter 'url' is mandatory";
  const noDate = "Query parameter 'valid-until' is not a valid ISO-8601 date string";
  const noAddress = "Query parameter 'valid-source' is not a valid IP address";
  test.each<[Record<string, string>, string]>([
    [{}, mandatory],
    [{ url: '  ' }, mandatory],
    [{ url: 'x', 'valid-until': 'soon' }, noDate],
    [{ url: 'x', 'valid-until': '2026-02-30T00:00:00Z' }, noDate],
    [{ url: 'x', 'valid-source': '300.0.0.1' }, noAddress],
    [{ url: 'x', 'valid-source': '10.0.0.1\u0000' }, noAddress],
  ])('%j is refused', async (fields, sentence) => {
    const answer = await post(fields);
    expect([answer.status, await answer.text()]).toEqual([400, sentence]);
  });

  test('empty optional fields count as absent', async () => {
    expect(await signed({ url: file, 'valid-until': '', 'valid-source': '' })).toHaveProperty('url');
  });
});

describe('sign=true', () => {
  /** Which of the addresses in an object carry a signature, in order. */
  const signedOnes = (value: unknown) =>
    [...JSON.stringify(value).matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url?.includes('signature='));

  test.each([
    ['the publications of an event', `/${event}/publications?sign=true`],
    ['one publication', `/${event}/publications/${published.publication}?sign=true`],
    ['an event', `/${event}?withpublications=true&sign=TRUE`],
    ['a list', '?withpublications=true&sign=true'],
  ])('signs the addresses of publications and their files; before 1.7.0 of files only: %s', async (_, query) => {
    const path = `/api/events${query}`;
    expect(signedOnes(await json(path))).toEqual([true, true]);
    expect(signedOnes(await json(path, '1.6.0'))).toEqual([false, true]);
    expect(signedOnes(await json(path.replace(/sign=true/i, 'sign=1')))).toEqual([false, false]);
  });

  test('what it hands out can be fetched', async () => {
    const [first] = await json(`/api/events/${event}/publications?sign=true`);
    expect((await app.request(first.url)).status).toBe(200);
    const fetched = await app.request(first.media[0].url);
    expect(BYTES.equals(Buffer.from(await fetched.arrayBuffer()))).toBe(true);
    expect((await app.request(file)).status).toBe(400);
  });

  test('without a secret nothing is signed and nothing is asked for', async () => {
    const plain = await workerApp({ WATCH_ACCESS: 'link' });
    const id = await insertEvent(plain.database);
    const url = `http://inlet.test/watch/${await insertPublication(plain.database, id)}`;
    const body = new URLSearchParams({ url });
    const answer = await plain.request('/api/security/sign', { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([200, CANNOT]);
    const shown = await (await plain.request(`/api/events/${id}/publications?sign=true`)).json();
    expect(shown).toMatchObject([{ url }]);
    expect((await plain.request(url)).status).toBe(200);
  });
});

describe('signed addresses behind a proxy', () => {
  const PUBLIC_URL = 'https://video.example/inlet';
  const PEER = '10.0.0.1';
  const signer = new UrlSigner({ keyId: 'inlet', secret: 'secret', ttlSeconds: 60 });
  const { database, storage } = app;
  const addresses = { signer, publicUrl: PUBLIC_URL, access: 'signed' } as const;
  const areas = [{ path: '/publications', layers: [publicationCors()] }];
  const services = { config: app.context.config, database, storage, addresses };
  const served = endpointApp([watchPage, watchAsset, publishedFile], services, { areas });
  const aFile = PUBLIC_URL + published.file;
  const aPage = PUBLIC_URL + published.page;

  const sign = (url: string, seconds = 60, source?: string) =>
    signer.sign(url, { validUntil: Date.now() + seconds * 1000, source });
  /** Asks as a proxy that knows the server by another name and takes the path of the public URL away. */
  const ask = async (url: string, init: RequestInit = {}) =>
    served.request(url.replace(PUBLIC_URL, 'http://127.0.0.1:8080'), init, { remoteAddress: PEER });

  test.each(['GET', 'HEAD'])('%s without a good signature gets nothing', async (method) => {
    const cases: [string, number][] = [
      [aFile, 400],
      [`${sign(aFile).split('&signature')[0]}`, 400],
      [`${aFile}${new URL(sign(aPage)).search}`, 403],
      [sign(aFile).replace(/.$/, (last) => (last === '0' ? '1' : '0')), 403],
      [`${sign(aFile)}&download=1`, 403],
      [sign(aFile, 60, '10.0.0.2'), 403],
      [sign(aFile, -1), 410],
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

  test('no cache may keep a file longer than its address is good, nor for others', async () => {
    const caching = async (seconds: number) =>
      (await ask(sign(aFile, seconds), { method: 'HEAD' })).headers.get('Cache-Control');
    expect(await caching(86_400)).toBe('private, max-age=3600');
    const left = Number(/^private, max-age=(\d+)$/.exec((await caching(30)) ?? '')?.[1]);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(30);
  });

  test('only a client with a signature learns that a file does not exist', async () => {
    const other = aFile.replace('a.mp4', 'b.mp4');
    expect((await ask(other)).status).toBe(400);
    expect((await ask(sign(other))).status).toBe(404);
  });

  test('the watch page needs a signature and signs the addresses of its files for its client', async () => {
    expect((await ask(sign(aPage, -1))).status).toBe(410);
    const refused = await ask(aPage);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('This link does not work');
    expect((await ask(sign(`${PUBLIC_URL}/watch/${randomUUID()}`))).status).toBe(404);

    const answer = await ask(sign(aPage, 60, PEER));
    expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([200, 'private, no-store']);
    const text = await answer.text();
    const source = /<video src="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(source.startsWith('../publications/')).toBe(true);
    const url = new URL(source, aPage).href;
    expect((await ask(url)).status).toBe(200);
    // Also while it is watched to its end, and for no other computer.
    expect(signer.verify(url, PEER, Date.now() + 610_000)).toMatchObject({ source: PEER });
    expect(signer.verify(url, '10.0.0.2')).toMatchObject({ status: 403 });
    expect(signer.verify(url, PEER, Date.now() + 670_000)).toMatchObject({ status: 410 });
  });
});

describe('the internal publication', () => {
  test('is listed for those who ask for it in 1.11.0, and named in publication_status always', async () => {
    const channels = async (path: string, version?: string) => {
      const body = await json(path, version);
      const publications = Array.isArray(body) ? body : body.publications;
      return publications.map(({ channel }: { channel: string }) => channel);
    };
    const including = 'includeInternalPublication=true';
    for (const path of [`/api/events/${event}/publications?`, `/api/events/${event}?withpublications=true&`]) {
      expect(await channels(path)).toEqual(['engage-player']);
      expect(await channels(path + including)).toEqual(['engage-player', 'internal']);
      expect(await channels(path + including, '1.10.0')).toEqual(['engage-player']);
    }
    const [listed] = await json('/api/events?withpublications=true');
    expect(listed.publications).toHaveLength(1);
    expect(listed.publication_status).toEqual(['engage-player', 'internal']);
  });

  test('can be had by its identifier from 1.11.0', async () => {
    const path = `/api/events/${event}/publications/${internal}`;
    expect(await json(path)).toMatchObject({ id: internal, channel: 'internal' });
    const answer = await app.request(path, { headers: { Accept: 'application/v1.10.0+json' } });
    const sentence = `Unable to find publication with id '${internal}' in event with id '${event}'`;
    expect([answer.status, await answer.text()]).toEqual([404, sentence]);
  });
});
