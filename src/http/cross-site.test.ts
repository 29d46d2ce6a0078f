import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { endpointApp } from '../../test/support/endpoint-app.ts';
import { refuseOtherSites, shareWith } from './cross-site.ts';
import { defineEndpoint } from './endpoint/endpoint.ts';
import { Rules } from './endpoint/rules.ts';

const sites = { publicUrl: 'https://media.example.org/inlet', trusted: ['https://lms.example.org'] };
const done: string[] = [];
const change = (method: 'post' | 'put' | 'delete') =>
  defineEndpoint({
    method,
    path: '/api/thing',
    access: 'public',
    handle: ({ c }) => {
      done.push(c.req.method);
      return c.json({ done: true }, 200, { ETag: '"1"' });
    },
  });
const read = defineEndpoint({
  method: 'get',
  path: '/api/thing',
  access: 'public',
  handle: ({ c }) => c.json({}),
});
const begin = defineEndpoint({
  method: 'get',
  path: '/api/begin/{name}',
  access: 'public',
  writes: true,
  handle: ({ c }) => {
    done.push(c.req.method);
    return c.text('begun');
  },
});
const dashboard = new Hono().all('/admin/queues/api/add', (c) => {
  done.push(c.req.method);
  return c.text('added');
});
const app = endpointApp(
  [change('post'), change('put'), change('delete'), read, begin],
  {},
  { sites, mounted: [dashboard], areas: [{ path: '/api', layers: [shareWith(sites.trusted)] }] },
);

/** As sent to http://internal:8080, which is not PUBLIC_URL. */
const send = (method: string, headers: Record<string, string>, path = '/api/thing', body?: string) =>
  app.request(`http://internal:8080${path}`, { method, headers, ...(body !== undefined && { body }) });

const FOREIGN: Record<string, string>[] = [
  { Origin: 'https://evil.example' },
  { Origin: 'null' },
  { Origin: '' },
  { Origin: 'http://' },
  { Origin: 'https://media.example.org.evil.example' },
  { Origin: 'https://media.example.org:8443' },
  { Origin: 'http://media.example.org' },
  { Origin: 'http://internal' },
  { Origin: 'http://internal:8081' },
  { Origin: 'https://lms.example.org.evil.example' },
  { Origin: 'https://LMS.example.org, https://lms.example.org' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'something-new' },
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
        expect(await answer.text()).toMatch(/^Pages of \S.* may change nothing here; CORS_ORIGINS /);
        expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
      }
    }
    expect(done).toEqual([]);
  });

  test.each(FOREIGN)('is refused as well where it is asked for like a page: %j', async (headers) => {
    done.length = 0;
    for (const method of ['GET', 'HEAD']) {
      for (const path of ['/api/begin/a', '/api/begin/a/', '/api/begin/%61']) {
        const answer = await send(method, headers, path);
        expect([method, path, answer.status]).toEqual([method, path, 403]);
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
  const proxied = new Hono().use(
    refuseOtherSites({ publicUrl: 'http://127.0.0.1:8080', trusted: [] }, new Rules([])),
  );
  proxied.post('/', (c) => c.text('done'));
  const post = (host: string, Origin: string) =>
    proxied.request(`http://${host}/`, { method: 'POST', headers: { Origin } });
  for (const host of ['media.example.org', 'media.example.org:443']) {
    expect([host, (await post(host, 'https://media.example.org')).status]).toEqual([host, 200]);
  }
  expect((await post('[::1]:8080', 'http://[::1]:8080')).status).toBe(200);
});

describe('a trusted site', () => {
  const Origin = 'https://lms.example.org';

  test('may send any request, with credentials of its own', async () => {
    const answer = await send('OPTIONS', {
      Origin,
      'Access-Control-Request-Method': 'PUT',
      'Access-Control-Request-Headers': 'authorization, if-match',
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(Origin);
    expect(answer.headers.get('Access-Control-Allow-Methods')).toContain('PUT');
    expect(answer.headers.get('Access-Control-Allow-Headers')).toBe('authorization,if-match');
    // What the browser remembers for us stays out of it.
    expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
  });

  test('reads answers and refusals', async () => {
    for (const [method, path, status] of [
      ['POST', '/api/thing', 200],
      ['GET', '/api/nowhere', 404],
    ] as const) {
      const answer = await send(method, { Origin }, path);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(Origin);
      expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('ETag');
      expect(answer.headers.get('Vary')).toContain('Origin');
    }
  });

  test('is no other one', async () => {
    const answer = await send('OPTIONS', {
      Origin: 'https://evil.example',
      'Access-Control-Request-Method': 'PUT',
    });
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });

  test('is none unless there is one', async () => {
    const alone = new Hono().use(shareWith([])).get('/', (c) => c.text('read'));
    const answer = await alone.request('/', { headers: { Origin: 'null' } });
    expect(answer.headers.get('Vary')).toBeNull();
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });
});
