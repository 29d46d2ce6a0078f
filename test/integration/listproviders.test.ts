import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  const examples = fileURLToPath(new URL('../../docs/metadata/', import.meta.url));
  app = await createTestApp(undefined, { METADATA_DIR: examples });
});
afterAll(() => app.close());

const get = async (path: string) => {
  const response = await app.request(`/api/listproviders/${path}`);
  expect(response.status).toBe(200);
  return response.json();
};

test('GET /api/listproviders/providers.json is an array of one array of names', async () => {
  expect(await get('providers.json')).toEqual([['LICENSES', 'LANGUAGES', 'AUDIENCES']]);
});

test('the eight licenses come with label and order as a JSON text', async () => {
  const licenses = (await get('LICENSES.json')) as Record<string, string>;
  expect(Object.keys(licenses)).toEqual([
    'ALLRIGHTS',
    'CC0',
    'CC-BY',
    'CC-BY-SA',
    'CC-BY-ND',
    'CC-BY-NC',
    'CC-BY-NC-SA',
    'CC-BY-NC-ND',
  ]);
  expect(licenses['CC-BY']).toBe('{"label":"EVENTS.LICENSE.CCBY","order":2,"selectable":true}');
});

test('languages go by three-letter codes', async () => {
  const languages = (await get('LANGUAGES.json')) as Record<string, string>;
  expect(languages).toMatchObject({ deu: 'LANGUAGES.GERMAN', eng: 'LANGUAGES.ENGLISH' });
  expect(Object.keys(languages).length).toBeGreaterThanOrEqual(30);
  for (const code of Object.keys(languages)) expect(code).toMatch(/^[a-z]{3}$/);
  expect(new Set(Object.values(languages)).size).toBe(Object.keys(languages).length);
});

test("a site's own list is there with its labels", async () => {
  expect(await get('AUDIENCES.json')).toEqual({ members: 'AUDIENCES.MEMBERS', public: 'AUDIENCES.PUBLIC' });
});

test('limit and offset cut a page, and a limit of 0 is none', async () => {
  expect(Object.keys(await get('LICENSES.json?limit=2&offset=1'))).toEqual(['CC0', 'CC-BY']);
  expect(Object.keys(await get('LICENSES.json?limit=0&offset=6'))).toEqual(['CC-BY-NC-SA', 'CC-BY-NC-ND']);
  expect(await get('LICENSES.json?offset=100')).toEqual({});
});

test('filter finds a part of a value or of its label, before the page is cut', async () => {
  expect(Object.keys(await get('LICENSES.json?filter=-nc&limit=1&offset=1'))).toEqual(['CC-BY-NC-SA']);
  expect(Object.keys(await get('LANGUAGES.json?filter=english'))).toEqual(['eng']);
  expect(await get('LANGUAGES.json?filter=%25')).toEqual({});
});

test.each(['-1', 'ten', '1.5'])('limit=%s is refused', async (limit) => {
  const response = await app.request(`/api/listproviders/LICENSES.json?limit=${limit}`);
  expect(response.status).toBe(400);
});

test.each(['NOBODY.json', 'LICENSES', 'licenses.json', '__proto__.json', '..%2fLICENSES.json'])(
  '%s is 404 with an empty text',
  async (path) => {
    const response = await app.request(`/api/listproviders/${path}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe('');
  },
);

test('list providers are there from 1.10.0 on', async () => {
  const status = async (version: string) => {
    const headers = { Accept: `application/v${version}+json` };
    const response = await app.request('/api/listproviders/LICENSES.json', { headers });
    return [response.status, response.headers.get('Content-Type')];
  };
  expect(await status('1.9.0')).toEqual([406, 'text/plain; charset=utf-8']);
  expect(await status('1.10.0')).toEqual([200, 'application/v1.10.0+json']);
  expect(await status('1.11.0')).toEqual([200, 'application/v1.11.0+json']);
});

test('list providers need their role', async () => {
  const status = async (authorization: string) => {
    const headers = { Authorization: authorization };
    return (await app.request('/api/listproviders/providers.json', { headers })).status;
  };
  expect(await status(await app.account('reader', 'ROLE_API_EVENTS_VIEW'))).toBe(403);
  expect(await status(await app.account('lister', 'ROLE_API_LISTPROVIDERS_VIEW'))).toBe(200);
});
