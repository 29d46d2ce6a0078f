import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createContext } from '#app/context.ts';
import { createTestApp, ownApp } from '../support/app.ts';
import { insertEvent, insertPublication } from '../support/publication.ts';
import { unlessBusy } from '../support/readiness.ts';
import { createSeries, send } from '../support/series.ts';
import { storageWith } from '../support/storage-with.ts';

/** What agents, recorders and Studio ask for beside packages and calendars; with Studio itself, from a folder. */
const PAGE = '<!doctype html><title>Studio</title><script>run()</script><script src="a.js"></script>';
const SITE = 'https://studio.example.org';
const outer = await mkdtemp(join(tmpdir(), 'inlet-studio-'));
const folder = join(outer, 'studio');
await mkdir(join(folder, 'assets'), { recursive: true });
await writeFile(join(outer, 'secret.js'), 'secret');
await writeFile(join(folder, 'index.html'), PAGE);
await writeFile(join(folder, 'assets', 'a ü.js'), 'run()');
await writeFile(join(folder, '.env'), 'secret');
await symlink(join(outer, 'secret.js'), join(folder, 'link.js'));
afterAll(() => rm(outer, { recursive: true, force: true }));

let storageIsAway = false;
const app = await ownApp(
  (storage) =>
    storageWith(storage, {
      check: () => (storageIsAway ? Promise.reject(new Error('away')) : storage.check()),
    }),
  { CORS_ORIGINS: SITE, STUDIO_DIR: folder },
);
const agent = await app.account('hall', 'ROLE_CAPTURE_AGENT');

const get = async (path: string, headers: Record<string, string> = { Authorization: agent }) => {
  const answer = await app.request(path, { headers });
  const text = await answer.text();
  return { status: answer.status, text, headers: answer.headers, json: () => JSON.parse(text) };
};
const json = async (path: string) => (await get(path)).json();
const type = (name: string) => `serviceType=org.opencastproject.${name}`;

describe('services', () => {
  test.each([
    ['capture.admin', '/capture-admin'],
    ['scheduler', '/recordings'],
    ['ingest', '/ingest'],
    ['search', '/search'],
  ])('rule 3: %s is one object', async (name, path) => {
    for (const list of ['available', 'services']) {
      const answer = await unlessBusy(() => get(`/services/${list}.json?${type(name)}`));
      expect(answer.json().services.service).toMatchObject({
        ...{ type: `org.opencastproject.${name}`, path, host: 'http://inlet.test' },
        ...{ active: true, online: true, maintenance: false, jobproducer: true, service_state: 'NORMAL' },
        ...{ error_state_trigger: 0, warning_state_trigger: 0 },
        ...{ onlinefrom: expect.any(String), state_changed: expect.any(String) },
      });
    }
  });

  test('rule 2: while recordings cannot be stored, ingest is 503 and never an empty list', async () => {
    const available = (name: string) => get(`/services/available.json?${type(name)}`);
    storageIsAway = true;
    onTestFinished(() => {
      storageIsAway = false;
    });
    const ingest = await available('ingest');
    expect([ingest.status, ingest.headers.get('Retry-After')]).toEqual([503, '5']);
    expect((await unlessBusy(() => available('scheduler'))).status).toBe(200);
    storageIsAway = false;
    expect((await unlessBusy(() => available('ingest'))).status).toBe(200);
    expect((await available('composer')).status).toBe(404);
  });

  test('without a type: 400, or all of them; a slash at the end is no other path', async () => {
    expect((await get('/services/available.json')).status).toBe(400);
    const all: { path: string }[] = (await json('/services/services.json')).services.service;
    expect(all.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        ...['/capture-admin', '/recordings', '/ingest', '/search'],
        ...['/api', '/api/events', '/api/series', '/api/workflows', '/workflow', '/series'],
        ...['/api/playlists', '/play', '/services'],
      ]),
    );
    expect((await get('/services/services.json/')).status).toBe(200);
    const external = await json(`/services/services.json?${type('external')}`);
    expect(external.services.service).toMatchObject([{ path: '/api' }, { path: '/api/series' }]);
    expect((await get(`/services/services.json?${type('composer')}`)).status).toBe(404);
  });

  test('GET /services/hosts.json: Extron', async () => {
    expect((await json('/services/hosts.json')).hosts.host).toMatchObject({
      ...{ base_url: 'http://inlet.test', address: expect.any(String), node_name: expect.any(String) },
      ...{ memory: expect.any(Number), cores: expect.any(Number), max_load: expect.any(Number) },
      ...{ online: true, active: true, maintenance: false },
    });
  });
});

describe('rule 18: who is not signed in gets 401, and no page', () => {
  test.each([
    `/services/available.json?${type('ingest')}`,
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
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest realm="Opencast".*Basic realm="Opencast"/);
  });
});

test('rule 1: an agent needs no route below /api, whose doors stay shut to it', async () => {
  for (const path of [
    ...[`/services/available.json?${type('ingest')}`, '/capture-admin/agents.json', '/info/me.json'],
    ...['/recordings/calendars?agentid=hall', '/ingest/createMediaPackage'],
  ]) {
    expect(await unlessBusy(() => get(path)), path).toMatchObject({ status: 200 });
  }
  const headers = { Authorization: agent };
  expect((await app.request('/api/series/nobody', { method: 'DELETE', headers })).status).toBe(403);
});

describe('info', () => {
  test('who one is: nobody, and somebody with a role of its own', async () => {
    const nobody = await app.anonymous('/info/me.json');
    expect(await nobody.json()).toMatchObject({ user: { username: 'anonymous' }, roles: ['ROLE_ANONYMOUS'] });
    const text = expect.any(String);
    expect(await json('/info/me.json')).toMatchObject({
      org: { id: 'mh_default_org', name: text },
      userRole: 'ROLE_USER_HALL',
      user: { username: 'hall', name: text, email: text, provider: text },
      roles: expect.arrayContaining(['ROLE_CAPTURE_AGENT', 'ROLE_USER_HALL']),
    });
  });

  test('versions as Galicaster and the libraries read them', async () => {
    expect(Number.parseInt((await json('/info/health')).releaseId, 10)).toBeGreaterThanOrEqual(6);
    expect((await json('/info/components.json')).rest[0].version).toMatch(/^\d+\.\d+/);
    expect(await json('/sysinfo/bundles/version')).toMatchObject({ consistent: true });
    expect((await json('/org/all.json')).organizations.organization).toMatchObject({ id: 'mh_default_org' });
    expect(await json('/lti')).toEqual({});
  });

  test('workflow definitions are a list, with the tag that Galicaster looks for', async () => {
    const { definitions } = await json('/workflow/definitions.json');
    const tags = { tag: expect.arrayContaining(['schedule']) };
    expect(definitions.definition).toContainEqual(expect.objectContaining({ id: 'fast', tags }));
  });

  test('whether an event has been published', async () => {
    const id = await insertEvent(app.database, {});
    const total = async (headers?: Record<string, string>) =>
      (await get(`/search/episode.json?id=${id}`, headers)).json()['search-results'].total;
    expect(await total()).toBe(0);
    await insertPublication(app.database, id);
    expect(await total()).toBe(1);
    expect(await total({ Authorization: await app.account('stranger', 'ROLE_API_EVENTS_VIEW') })).toBe(0);
  });
});

describe('series', () => {
  const post = (fields: Record<string, string>, path = '/series/', headers = {}) =>
    send(app, 'POST', path, fields, headers);

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
    const wrong: Record<string, string>[] = [{}, { title: '' }, { series: '<a' }];
    for (const fields of [...wrong, { title: 'x', acl: '<!DOCTYPE a>' }]) {
      expect((await post(fields)).status).toBe(400);
    }
    expect((await post({ title: 'x' }, '/series/', { Authorization: agent })).status).toBe(403);
  });

  test('an agent counts and lists those that it may write, as Studio does', async () => {
    const Authorization = await app.account('writer', 'ROLE_STUDIO', 'ROLE_A');
    const writing = { Authorization: await app.account('hall-2', 'ROLE_CAPTURE_AGENT', 'ROLE_A') };
    expect((await get('/series/count')).text).toBe('0');
    expect(await json('/admin-ng/series/series.json')).toMatchObject({ total: 0, results: [] });
    expect((await get('/series/count', writing)).text).toBe('1');
    const { count, results } = (await get('/admin-ng/series/series.json?offset=0&limit=500', writing)).json();
    expect([count, results[0]]).toMatchObject([1, { id: 'algebra', title: 'Algebra II' }]);
    expect(results[0].creation_date).toMatch(/Z$/);
    expect((await get('/admin-ng/series/series.json?limit=x')).status).toBe(400);
    const mine = await get('/studio-api/series.json', { Authorization });
    expect(mine.json()).toEqual([{ id: 'algebra', title: 'Algebra II' }]);
    expect((await get('/series/count', { Authorization })).text).toBe('1');
  });

  test('with AGENT_SERIES=all, an agent counts and lists all', async () => {
    const open = await createTestApp(undefined, { AGENT_SERIES: 'all' });
    onTestFinished(() => open.close());
    const headers = { Authorization: await open.account('hall', 'ROLE_CAPTURE_AGENT') };
    await createSeries(open, { title: 'Algebra' });
    expect(await (await open.request('/series/count', { headers })).text()).toBe('1');
    const list = await (await open.request('/admin-ng/series/series.json', { headers })).json();
    expect(list).toMatchObject({ total: 1, results: [{ title: 'Algebra' }] });
  });
});

describe('rule 20: pages of configured origins', () => {
  test('may send Authorization, and read answers and refusals', async () => {
    for (const path of ['/info/me.json', '/studio-api/series.json', '/ingest/addTrack']) {
      const asking = {
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization',
      };
      const preflight = await app.anonymous(path, {
        method: 'OPTIONS',
        headers: { Origin: SITE, ...asking },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('Access-Control-Allow-Headers')?.toLowerCase()).toContain('authorization');
      expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe(SITE);
      expect(preflight.headers.get('Access-Control-Allow-Credentials')).toBe('true');
    }
    const refused = await app.anonymous('/ingest/createMediaPackage', { headers: { Origin: SITE } });
    expect([refused.status, refused.headers.get('Access-Control-Allow-Origin')]).toEqual([401, SITE]);
    const other = await app.anonymous('/info/me.json', { headers: { Origin: 'https://evil.example' } });
    expect(other.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });
});

describe('Studio from a folder', () => {
  test('the page, at every address that it makes of its own, may use camera and microphone', async () => {
    for (const path of ['/studio/', '/studio/recording', '/studio/index.html']) {
      const { status, headers, text } = await get(path, {});
      expect([status, text]).toEqual([200, PAGE]);
      expect(headers.get('Permissions-Policy')).toContain('camera=(self)');
      expect(headers.get('Content-Security-Policy')).toMatch(/script-src 'self' 'wasm-unsafe-eval' 'sha256-[^']+';/);
    }
    expect((await get('/studio', {})).headers.get('Location')).toBe('studio/');
  });

  test('files by their type, again only when they have changed', async () => {
    const path = '/studio/assets/a%20%C3%BC.js';
    const { status, headers, text } = await get(path, {});
    const scripts = 'text/javascript; charset=utf-8';
    expect([status, text, headers.get('Content-Type')]).toEqual([200, 'run()', scripts]);
    expect((await get(path, { 'If-None-Match': headers.get('ETag') ?? '' })).status).toBe(304);
  });

  test('settings that fit, unless the folder has its own', async () => {
    expect((await get('/studio/settings.toml', {})).text).toContain('serverUrl = "/"\nloginProvided = true');
    await writeFile(join(folder, 'settings.toml'), 'own = true');
    expect((await get('/studio/settings.toml', {})).text).toBe('own = true');
  });

  test.each([
    '/studio/.env',
    '/studio/link.js',
    '/studio/..%2Fsecret.js',
    '/studio/assets/..%2f..%2fsecret.js',
    '/studio/%2e%2e%5csecret.js',
    '/studio/%00.js',
    '/studio/missing.js',
    '/studio/%E0%A4%A',
  ])('%s is 404', async (path) => {
    const { status, text } = await get(path, {});
    expect(status).toBe(404);
    expect(text).not.toContain('secret');
  });

  test('people who are not signed in are led to where they do', async () => {
    const answer = await app.anonymous('/studio/', { headers: { Accept: 'text/html' } });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('Location')).toContain('sign-in?next=%2Fstudio%2F');
  });

  test('a folder that is none stops the start', async () => {
    const { config, log } = app.context;
    const starting = createContext({ ...config, studioDir: join(folder, 'nothing') }, 'api', { log });
    await expect(starting).rejects.toThrow(/STUDIO_DIR is ".*nothing"; allowed is a folder/);
  });
});
