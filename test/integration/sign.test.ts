import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';

const SIGNING = { URL_SIGNING_SECRET: 'secret', URL_SIGNING_KEY_ID: 'demoKeyOne', URL_SIGNING_TTL: '600' };
const CANNOT = { error: 'Given URL cannot be signed' };

let app: TestApp;
let event: string;
let publication: string;
let page: string;
let file: string;
beforeAll(async () => {
  app = await createTestApp(undefined, SIGNING);
  event = await insertEvent(app.database);
  await grant(event, 'ROLE_A');
  ({ publication, page, file } = await publish(event, 'engage-player'));
});
afterAll(() => app?.close());

async function grant(event_id: string, role: string): Promise<void> {
  const entry = { event_id, position: 0, role, action: 'read', allow: true };
  await app.database.insertInto('event_acl').values(entry).execute();
}

async function publish(event_id: string, channel: string) {
  const publication_id = await insertPublication(app.database, event_id, channel);
  const { id } = await insertElement(app.database, app.storage, Buffer.from('bytes'), {
    event_id,
    publication_id,
    kind: 'media',
    filename: 'a.mp4',
  });
  return {
    publication: publication_id,
    page: `http://inlet.test/watch/${publication_id}`,
    file: `http://inlet.test/publications/${publication_id}/${id}/a.mp4`,
  };
}

const post = (fields: Record<string, string> | string, headers: Record<string, string> = {}) =>
  app.request('/api/security/sign', {
    method: 'POST',
    body: typeof fields === 'string' ? fields : new URLSearchParams(fields),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
  });

const json = async (path: string, version = '1.11.0', headers: Record<string, string> = {}) =>
  (await app.request(path, { headers: { Accept: `application/v${version}+json`, ...headers } })).json();

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
    const body = await (await post({ url: file, 'valid-until': '2016-04-13T10:15:30+02:00' })).json();
    expect(body['valid-until']).toBe('2016-04-13T08:15:30Z');
    expect((await app.request(body.url)).status).toBe(410);
  });

  test('valid-source becomes part of the policy', async () => {
    const body = await (await post({ url: file, 'valid-source': '10.0.0.1' })).json();
    const policy = Buffer.from(new URL(body.url).searchParams.get('policy') ?? '', 'base64url').toString();
    expect(policy).toContain('"IpAddress":"10.0.0.1"');
    expect((await app.request(body.url)).status).toBe(403);
  });

  test('an address that Inlet does not publish cannot be signed', async () => {
    for (const url of [
      'http://localhost',
      'nonsense',
      'http://inlet.test/api/events',
      'http://inlet.test/publications/',
      `http://other.test/watch/${publication}`,
      `https://inlet.test/watch/${publication}`,
      `http://user:pw@inlet.test/watch/${publication}`,
      `http://inlet.test/watch/${randomUUID()}`,
      'http://inlet.test/watch/x%00',
      file.replace('a.mp4', 'b.mp4'),
      `${file}/more`,
      file.replace('/publications/', '/publications/../api/'),
    ]) {
      const answer = await post({ url });
      expect([url, answer.status, await answer.json()]).toEqual([url, 200, CANNOT]);
    }
  });

  test('an address of an event the caller may not read is answered like one that is not there', async () => {
    const a = await app.account('a', 'ROLE_API_SECURITY_EDIT', 'ROLE_A');
    const b = await app.account('b', 'ROLE_API_SECURITY_EDIT', 'ROLE_B');
    for (const url of [page, file]) {
      expect(await (await post({ url }, { Authorization: a })).json()).toHaveProperty('url');
      const hidden = await post({ url }, { Authorization: b });
      const absent = await post({ url: url.replace(publication, randomUUID()) }, { Authorization: b });
      expect([hidden.status, await hidden.text()]).toEqual([200, await absent.text()]);
      const asB = { 'X-RUN-WITH-ROLES': 'ROLE_B' };
      expect(await (await post({ url }, asB)).json()).toEqual(CANNOT);
    }
  });

  test.each([
    [{}, "Query parameter 'url' is mandatory"],
    [{ url: '  ' }, "Query parameter 'url' is mandatory"],
    [
      { url: 'x', 'valid-until': 'soon' },
      "Query parameter 'valid-until' is not a valid ISO-8601 date string",
    ],
    [
      { url: 'x', 'valid-until': '2026-02-30T00:00:00Z' },
      "Query parameter 'valid-until' is not a valid ISO-8601 date string",
    ],
    [{ url: 'x', 'valid-source': '300.0.0.1' }, "Query parameter 'valid-source' is not a valid IP address"],
    [
      { url: 'x', 'valid-source': '10.0.0.1\u0000' },
      "Query parameter 'valid-source' is not a valid IP address",
    ],
  ])('%j is refused', async (fields, sentence) => {
    const answer = await post(fields as Record<string, string>);
    expect([answer.status, await answer.text()]).toEqual([400, sentence]);
  });

  test('empty optional fields count as absent, and a form of several parts will do', async () => {
    expect(
      await (await post(`url=${encodeURIComponent(file)}&valid-until=&valid-source=`)).json(),
    ).toHaveProperty('url');
    const form = new FormData();
    form.set('url', file);
    const answer = await app.request('/api/security/sign', { method: 'POST', body: form });
    expect(await answer.json()).toHaveProperty('url');
  });

  test('XML cannot be had', async () => {
    expect((await post({ url: file }, { Accept: 'application/v1.0.0+xml' })).status).toBe(406);
  });
});

/** Which of the addresses in an object carry a signature, in order. */
const signedOnes = (value: unknown) =>
  [...JSON.stringify(value).matchAll(/"url":"([^"]+)"/g)].map(
    ([, url]) => url?.includes('signature=') ?? false,
  );

describe('sign=true', () => {
  const paths = () => [
    `/api/events/${event}/publications?sign=true`,
    `/api/events/${event}/publications/${publication}?sign=true`,
    `/api/events/${event}?withpublications=true&sign=TRUE`,
    '/api/events?withpublications=true&sign=true',
  ];

  test('signs the addresses of publications and their files; before 1.7.0 of files only', async () => {
    for (const path of paths()) {
      expect([path, signedOnes(await json(path))]).toEqual([path, [true, true]]);
      expect([path, signedOnes(await json(path, '1.6.0'))]).toEqual([path, [false, true]]);
      expect([path, signedOnes(await json(path.replace(/sign=true/i, 'sign=1')))]).toEqual([
        path,
        [false, false],
      ]);
    }
  });

  test('what it hands out can be fetched', async () => {
    const [first] = await json(`/api/events/${event}/publications?sign=true`);
    expect((await app.request(first.url)).status).toBe(200);
    expect(await (await app.request(first.media[0].url)).text()).toBe('bytes');
    expect((await app.request(file)).status).toBe(400);
  });
});

describe('the internal publication', () => {
  let internal: string;
  beforeAll(async () => {
    ({ publication: internal } = await publish(event, 'internal'));
  });

  test('is listed for those who ask for it in 1.11.0, and named in publication_status always', async () => {
    const channels = async (path: string, version?: string) => {
      const body = await json(path, version);
      const publications = Array.isArray(body) ? body : body.publications;
      return publications.map(({ channel }: { channel: string }) => channel);
    };
    for (const path of [
      `/api/events/${event}/publications?`,
      `/api/events/${event}?withpublications=true&`,
    ]) {
      expect(await channels(path)).toEqual(['engage-player']);
      expect(await channels(`${path}includeInternalPublication=true`)).toEqual(['engage-player', 'internal']);
      expect(await channels(`${path}includeInternalPublication=true`, '1.10.0')).toEqual(['engage-player']);
    }
    const [listed] = await json('/api/events?withpublications=true');
    expect(listed.publications).toHaveLength(1);
    expect(listed.publication_status).toEqual(['engage-player', 'internal']);
  });

  test('can be had by its identifier from 1.11.0', async () => {
    const path = `/api/events/${event}/publications/${internal}`;
    expect(await json(path)).toMatchObject({ id: internal, channel: 'internal' });
    const answer = await app.request(path, { headers: { Accept: 'application/v1.10.0+json' } });
    expect([answer.status, await answer.text()]).toEqual([
      404,
      `Unable to find publication with id '${internal}' in event with id '${event}'`,
    ]);
  });
});

test('without a secret nothing is signed and nothing is asked for', async () => {
  const plain = await createTestApp();
  try {
    const id = await insertEvent(plain.database);
    const publicationId = await insertPublication(plain.database, id);
    const url = `http://inlet.test/watch/${publicationId}`;
    const body = new URLSearchParams({ url });
    const answer = await plain.request('/api/security/sign', { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([200, CANNOT]);
    expect(await (await plain.request(`/api/events/${id}/publications?sign=true`)).json()).toMatchObject([
      { url },
    ]);
    expect((await plain.request(url)).status).toBe(200);
  } finally {
    await plain.close();
  }
});
