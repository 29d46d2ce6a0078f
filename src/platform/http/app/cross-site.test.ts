import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { endpointApp } from '#test/support/endpoint-app.ts';
import { defineEndpoint } from '../endpoint/endpoint.ts';
import { Rules } from '../endpoint/rules.ts';
import { allowOrigins, rejectCrossSiteWrites } from './cross-site.ts';

const sites = { publicUrl: 'https://media.example.org/inlet', trusted: ['https://lms.example.org'] };
const done: string[] = [];
const endpoint = (method: 'get' | 'post' | 'put' | 'delete', path = '/api/thing', writes = false) =>
  defineEndpoint({
    ...{ method, path, access: 'public', writes },
    handle: ({ c }) => {
      done.push(c.req.method);
      return c.json({ done: true }, 200, { ETag: '"1"' });
    },
  });
const dashboard = new Hono().all('/admin/queues/api/add', (c) => {
  done.push(c.req.method);
  return c.text('added');
});
const app = endpointApp(
  [
    ...[endpoint('post'), endpoint('put'), endpoint('delete'), endpoint('get')],
    endpoint('get', '/api/begin/{name}', true),
  ],
  {},
  { sites, mounted: [dashboard], areas: [{ path: '/api', layers: [allowOrigins(sites.trusted)] }] },
);

/** As sent to http://internal:8080, which is not PUBLIC_URL. */
const send = (method: string, headers: Record<string, string>, path = '/api/thing', body?: string) =>
  app.request(`http://internal:8080${path}`, { method, headers, ...(body !== undefined && { body }) });

const FOREIGN: Record<string, string>[] = [
  ...[
    ...['https://evil.example', 'null', '', 'http://', 'https://media.example.org.evil.example'],
    ...['https://media.example.org:8443', 'http://media.example.org', 'http://internal'],
    ...['http://internal:8081', 'https://lms.example.org.evil.example'],
    'https://LMS.example.org, https://lms.example.org',
  ].map((Origin) => ({ Origin })),
  ...['cross-site', 'same-site', 'something-new'].map((site) => ({ 'Sec-Fetch-Site': site })),
  { Origin: 'https://media.example.org', 'Sec-Fetch-Site': 'cross-site' },
  { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' },
];
const OWN: Record<string, string>[] = [
  {},
  { Origin: 'https://media.example.org' },
  { Origin: 'http://internal:8080' },
  { Origin: 'https://internal:8080', 'Sec-Fetch-Site': 'same-origin' },
  { 'Sec-Fetch-Site': 'none' },
  { Origin: 'https://lms.example.org', 'Sec-Fetch-Site': 'cross-site' },
];

describe('what would change something', () => {
  test.each(FOREIGN)('is refused from another site: %j', async (headers) => {
    done.length = 0;
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND']) {
      for (const path of ['/api/thing', '/admin/queues/api/add', '/nowhere']) {
        const answer = await send(method, headers, path);
        expect([method, path, answer.status]).toEqual([method, path, 403]);
        expect(await answer.text()).toMatch(/^Pages of \S.* may not change anything here; CORS_ORIGINS /);
        expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
      }
    }
    // Also where it is asked for like a page.
    for (const method of ['GET', 'HEAD']) {
      for (const path of ['/api/begin/a', '/api/begin/a/', '/api/begin/%61']) {
        const { status } = await send(method, headers, path);
        expect([method, path, status]).toEqual([method, path, 403]);
      }
    }
    expect(done).toEqual([]);
  });

  test.each([
    ['multipart/form-data; boundary=x', '--x\r\n\r\n--x--'],
    ['application/x-www-form-urlencoded', 'a=b'],
    ['text/plain', '{"a":"b"}'],
    ['application/json', '{}'],
    ['', ''],
    [undefined, undefined],
  ])('is refused whatever it is: %s', async (type, body) => {
    done.length = 0;
    const headers = { Origin: 'https://evil.example', ...(type !== undefined && { 'Content-Type': type }) };
    expect((await send('POST', headers, '/api/thing', body)).status).toBe(403);
    expect(done).toEqual([]);
  });

  test.each(OWN)('passes from our own pages, programs and trusted sites: %j', async (headers) => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect([method, (await send(method, headers)).status]).toEqual([method, 200]);
      expect((await send(method, headers, '/admin/queues/api/add')).status).toBe(200);
    }
    expect((await send('GET', headers, '/api/begin/a')).status).toBe(200);
  });
});

test.each(FOREIGN)('reading is left to the browser’s own rules: %j', async (headers) => {
  for (const method of ['GET', 'HEAD']) {
    const answer = await send(method, headers);
    expect([method, answer.status]).toEqual([method, 200]);
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
  }
});

test('behind a proxy that ends TLS, its host alone tells where a page comes from', async () => {
  const proxied = new Hono()
    .use(rejectCrossSiteWrites({ publicUrl: 'http://127.0.0.1:8080', trusted: [] }, new Rules([])))
    .post('/', (c) => c.text('done'));
  const post = async (host: string, Origin: string) =>
    (await proxied.request(`http://${host}/`, { method: 'POST', headers: { Origin } })).status;
  expect(await post('media.example.org', 'https://media.example.org')).toBe(200);
  expect(await post('media.example.org:443', 'https://media.example.org')).toBe(200);
  expect(await post('[::1]:8080', 'http://[::1]:8080')).toBe(200);
});

describe('a trusted site', () => {
  const Origin = 'https://lms.example.org';
  const asking = { 'Access-Control-Request-Method': 'PUT' };

  test('may send any request, with credentials of its own', async () => {
    const wanted = { 'Access-Control-Request-Headers': 'authorization, if-match' };
    const { status, headers } = await send('OPTIONS', { Origin, ...asking, ...wanted });
    expect([status, headers.get('Access-Control-Allow-Origin')]).toEqual([204, Origin]);
    expect(headers.get('Access-Control-Allow-Methods')).toContain('PUT');
    expect(headers.get('Access-Control-Allow-Headers')).toBe('authorization,if-match');
    // What the browser remembers for us stays out of it.
    expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
  });

  test.each([
    ['POST', '/api/thing', 200],
    ['GET', '/api/nowhere', 404],
  ])('reads answers and refusals: %s %s', async (method, path, status) => {
    const answer = await send(method, { Origin }, path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(Origin);
    expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('ETag');
    expect(answer.headers.get('Vary')).toContain('Origin');
  });

  test('is no other one, and none unless there is one', async () => {
    const evil = await send('OPTIONS', { Origin: 'https://evil.example', ...asking });
    expect(evil.headers.get('Access-Control-Allow-Origin')).toBeNull();
    const alone = new Hono().use(allowOrigins([])).get('/', (c) => c.text('read'));
    const { headers } = await alone.request('/', { headers: { Origin: 'null' } });
    expect([headers.get('Vary'), headers.get('Access-Control-Allow-Origin')]).toEqual([null, null]);
  });
});
