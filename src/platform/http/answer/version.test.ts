import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { handleErrors } from '../app/error-handler.ts';
import { Rules, requireVersion } from '../endpoint/rules.ts';
import { atLeast, negotiateVersion, resolveVersion, versionedJson } from './version.ts';

const app = new Hono();
handleErrors(app);
const rules = new Rules([{ method: 'get', path: '/api/listproviders/{name}', access: 'public', since: '1.10.0' }]);
app.use(negotiateVersion(), requireVersion(rules));
app.get('/answer', (c) => versionedJson(c, { id: 1 }, 201, { Location: '/x' }));
app.get('/api/listproviders/x', (c) => versionedJson(c, []));

const ask = (path: string, accept?: string) =>
  app.request(path, { headers: accept === undefined ? {} : { Accept: accept } });

test.each([
  [undefined, '1.11.0'],
  ['', '1.11.0'],
  ['application/json', '1.11.0'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', '1.11.0'],
  ['application/*', '1.11.0'],
  ['application/v1.1.0+json', '1.1.0'],
  ['application/v1.10.0+json', '1.10.0'],
  ['APPLICATION/V1.4.0+JSON', '1.4.0'],
  ['application/v1.0.0+json, application/v1.9.0+json;q=0.1, application/v1.2.0+json', '1.9.0'],
  ['application/v1.0.0+json, application/json', '1.11.0'],
  ['application/v9.9.9+json, application/v1.3.0+json', '1.3.0'],
  ['application/v9.9.9+json', undefined],
  ['application/v1.0.0+xml', undefined],
  ['text/html', undefined],
])('Accept %j is answered in version %s', (accept, version) => {
  expect(resolveVersion(accept)).toBe(version);
});

test('versions are compared by number, not by spelling', () => {
  expect(atLeast('1.10.0', '1.9.0')).toBe(true);
  expect(atLeast('1.2.0', '1.10.0')).toBe(false);
  expect(atLeast('1.4.0', '1.4.0')).toBe(true);
});

test('an answer carries the media type of its version, its status and its headers', async () => {
  const response = await ask('/answer', 'application/v1.5.0+json');
  expect(response.status).toBe(201);
  expect(response.headers.get('Content-Type')).toBe('application/v1.5.0+json');
  expect(response.headers.get('Location')).toBe('/x');
  expect(await response.json()).toEqual({ id: 1 });
  // A format that the API cannot produce is refused with a sentence.
  const refused = await ask('/answer', 'application/v9.9.9+json');
  expect([refused.status, refused.headers.get('Content-Type')]).toEqual([406, 'text/plain; charset=utf-8']);
  expect(await refused.text()).toMatch(/^The Accept header /);
});

test('older versions do not have what was introduced later', async () => {
  expect((await ask('/api/listproviders/x', 'application/v1.9.0+json')).status).toBe(406);
  expect((await ask('/api/listproviders/x', 'application/v1.10.0+json')).status).toBe(200);
});
