import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { unlessBusy } from '../support/readiness.ts';
import { send } from '../support/series.ts';

let app: TestApp;
let agent: string;
let storageIsAway = false;
beforeAll(async () => {
  app = await createTestApp(
    (storage) =>
      new Proxy(storage, {
        get: (target, name) => {
          if (name === 'check' && storageIsAway) return () => Promise.reject(new Error('away'));
          const value = Reflect.get(target, name) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
    { CORS_ORIGINS: 'https://studio.example.org' },
  );
  agent = await app.account('hall', 'ROLE_CAPTURE_AGENT');
});
afterAll(() => app?.close());

const get = async (path: string, headers: Record<string, string> = { Authorization: agent }) => {
  const answer = await app.request(path, { headers });
  const text = await answer.text();
  return { status: answer.status, text, headers: answer.headers, json: () => JSON.parse(text) };
};

describe('services', () => {
  test.each([
    ['org.opencastproject.capture.admin', '/capture-admin'],
    ['org.opencastproject.scheduler', '/recordings'],
    ['org.opencastproject.ingest', '/ingest'],
    ['org.opencastproject.search', '/search'],
  ])('rule 3: %s is one object', async (type, path) => {
    for (const list of ['available', 'services']) {
      const answer = await unlessBusy(() => get(`/services/${list}.json?serviceType=${type}`));
      expect(answer.json().services.service).toMatchObject({
        ...{ type, path, host: 'http://inlet.test' },
        ...{ active: true, online: true, maintenance: false },
      });
    }
  });

  test('rule 2: while recordings cannot be stored, ingest is 503 and never an empty list', async () => {
    storageIsAway = true;
    const ingest = await get('/services/available.json?serviceType=org.opencastproject.ingest');
    expect([ingest.status, ingest.headers.get('Retry-After')]).toEqual([503, '5']);
    expect((await get('/services/available.json?serviceType=org.opencastproject.scheduler')).status).toBe(
      200,
    );
    storageIsAway = false;
    const back = await unlessBusy(() =>
      get('/services/available.json?serviceType=org.opencastproject.ingest'),
    );
    expect(back.status).toBe(200);
    expect((await get('/services/available.json?serviceType=org.opencastproject.composer')).status).toBe(404);
  });

  test('without a type: 400, or all of them; a slash at the end is no other path', async () => {
    expect((await get('/services/available.json')).status).toBe(400);
    const all: { path: string }[] = (await get('/services/services.json')).json().services.service;
    expect(all.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        ...['/capture-admin', '/recordings', '/ingest', '/search'],
        ...['/api', '/api/events', '/api/series', '/api/workflows', '/workflow', '/series'],
      ]),
    );
    expect((await get('/services/services.json/')).status).toBe(200);
    expect((await get('/services/hosts.json')).json().hosts.host).toMatchObject({
      base_url: 'http://inlet.test',
    });
  });
});

describe('rule 18: who is not signed in gets 401, and no page', () => {
  test.each([
    '/services/available.json?serviceType=org.opencastproject.ingest',
    '/recordings/calendars?agentid=a',
    '/ingest/createMediaPackage',
    '/capture-admin/agents.json',
    '/series/count',
    '/studio-api/series.json',
    '/search/episode.json?id=1',
    '/workflow/definitions.json',
    '/info/components.json',
  ])('%s', async (path) => {
    const answer = await app.anonymous(path);
    expect([answer.status, answer.headers.get('Location')]).toEqual([401, null]);
    expect(answer.headers.get('WWW-Authenticate')).toMatch(
      /^Digest realm="Opencast".*Basic realm="Opencast"/,
    );
  });
});

describe('info', () => {
  test('who one is: nobody, and somebody with a role of its own', async () => {
    const nobody = await app.anonymous('/info/me.json');
    expect(await nobody.json()).toMatchObject({ user: { username: 'anonymous' }, roles: ['ROLE_ANONYMOUS'] });
    expect((await get('/info/me.json')).json()).toMatchObject({
      org: { id: 'mh_default_org' },
      userRole: 'ROLE_USER_HALL',
      user: { username: 'hall' },
      roles: expect.arrayContaining(['ROLE_CAPTURE_AGENT', 'ROLE_USER_HALL']),
    });
  });

  test('versions as Galicaster and the libraries read them', async () => {
    expect(Number.parseInt((await get('/info/health')).json().releaseId, 10)).toBeGreaterThanOrEqual(6);
    expect((await get('/info/components.json')).json().rest[0].version).toMatch(/^\d+\.\d+/);
    expect((await get('/sysinfo/bundles/version')).json()).toMatchObject({ consistent: true });
    expect((await get('/org/all.json')).json().organizations.organization).toMatchObject({
      id: 'mh_default_org',
    });
    expect((await get('/lti')).json()).toEqual({});
  });

  test('workflow definitions are a list, with the tag that Galicaster looks for', async () => {
    const { definitions } = (await get('/workflow/definitions.json')).json();
    expect(Array.isArray(definitions.definition)).toBe(true);
    expect(definitions.definition).toContainEqual(
      expect.objectContaining({ id: 'fast', tags: { tag: expect.arrayContaining(['schedule']) } }),
    );
  });

  test('whether an event has been published', async () => {
    const id = await insertEvent(app.database, {});
    expect((await get(`/search/episode.json?id=${id}`)).json()['search-results'].total).toBe(0);
    await app.database
      .insertInto('publications')
      .values({ id: crypto.randomUUID(), event_id: id, channel: 'engage-player', mediatype: 'text/html' })
      .execute();
    expect((await get(`/search/episode.json?id=${id}`)).json()['search-results'].total).toBe(1);
    const stranger = await app.account('stranger', 'ROLE_API_EVENTS_VIEW');
    const seen = await get(`/search/episode.json?id=${id}`, { Authorization: stranger });
    expect(seen.json()['search-results'].total).toBe(0);
  });
});

describe('series', () => {
  const post = (fields: Record<string, string>, path = '/series/') => send(app, 'POST', path, fields);
  test('as scripts create them, and again to change them', async () => {
    const acl = '{"acl":{"ace":[{"role":"ROLE_A","action":"read"},{"role":"ROLE_A","action":"write"}]}}';
    const made = await post({ title: 'Algebra', identifier: 'algebra', publisher: 'Uni', acl });
    expect(made.status).toBe(201);
    expect(made.text).toContain('<dcterms:title>Algebra</dcterms:title>');
    expect((await post({ title: 'Algebra II', identifier: 'algebra' })).status).toBe(204);
    const read = JSON.parse((await send(app, 'GET', '/api/series/algebra?withacl=true')).text);
    expect(read).toMatchObject({ title: 'Algebra II', publishers: ['Uni'], acl: [{ role: 'ROLE_A' }, {}] });
    const xml =
      '<dublincore xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:title>By XML</dcterms:title><dcterms:identifier>by-xml</dcterms:identifier></dublincore>';
    expect((await post({ series: xml }, '/series')).status).toBe(201);
    for (const wrong of [{}, { title: '' }, { series: '<a' }, { title: 'x', acl: '<!DOCTYPE a>' }]) {
      expect((await post(wrong as Record<string, string>)).status).toBe(400);
    }
  });

  test('an agent counts and lists all; Studio gets those that it may write', async () => {
    const writer = await app.account('writer', 'ROLE_STUDIO', 'ROLE_A');
    expect((await get('/series/count')).text).toBe('2');
    const { count, results } = (await get('/admin-ng/series/series.json?offset=0&limit=500')).json();
    expect([count, results[0].title]).toEqual([2, 'Algebra II']);
    expect(results[0].creation_date).toMatch(/Z$/);
    expect((await get('/admin-ng/series/series.json?limit=x')).status).toBe(400);
    const mine = await get('/studio-api/series.json', { Authorization: writer });
    expect(mine.json()).toEqual([{ id: 'algebra', title: 'Algebra II' }]);
    expect((await get('/series/count', { Authorization: writer })).text).toBe('1');
  });
});

describe('rule 20: pages of configured origins', () => {
  const Origin = 'https://studio.example.org';
  test('may send Authorization, and read answers and refusals', async () => {
    for (const path of ['/info/me.json', '/studio-api/series.json', '/ingest/addTrack']) {
      const preflight = await app.anonymous(path, {
        method: 'OPTIONS',
        headers: {
          ...{ Origin, 'Access-Control-Request-Method': 'POST' },
          'Access-Control-Request-Headers': 'authorization',
        },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('Access-Control-Allow-Headers')?.toLowerCase()).toContain('authorization');
      expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe(Origin);
      expect(preflight.headers.get('Access-Control-Allow-Credentials')).toBe('true');
    }
    const refused = await app.anonymous('/ingest/createMediaPackage', { headers: { Origin } });
    expect([refused.status, refused.headers.get('Access-Control-Allow-Origin')]).toEqual([401, Origin]);
    const other = await app.anonymous('/info/me.json', { headers: { Origin: 'https://evil.example' } });
    expect(other.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });
});
