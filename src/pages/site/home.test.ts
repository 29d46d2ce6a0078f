import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { apiDocument, apiInfo, apiVersions, defaultVersion } from '#openapi/base.endpoints.ts';
import { servedDocument } from '#openapi/served-document.ts';
import { endpointApp } from '#test/support/endpoint-app.ts';
import { docsAsset, docsPage } from './docs.endpoints.ts';
import { home } from './home.endpoint.ts';

const publicUrl = 'https://media.example.org/inlet';
const app = endpointApp([home, apiInfo, apiVersions, defaultVersion, apiDocument, docsPage, docsAsset], {
  config: { publicUrl },
  document: servedDocument(publicUrl),
});

const DEFAULT = 'v1.11.0';
test.each([
  ['/api', { url: `${publicUrl}/api`, version: DEFAULT }],
  ['/api/', { url: `${publicUrl}/api`, version: DEFAULT }],
  ['/api/version/default', { default: DEFAULT }],
  ['/api/version', { versions: Array.from({ length: 12 }, (_, i) => `v1.${i}.0`), default: DEFAULT }],
])('GET %s', async (path, body) => {
  const response = await app.request(path);
  expect(response.headers.get('Content-Type')).toBe('application/json');
  expect(await response.json()).toEqual(body);
});

test('the document says where the API is, and is not sent to a client that has it already', async () => {
  const answer = await app.request('/api/openapi.json');
  expect(answer.headers.get('Content-Type')).toBe('application/json');
  expect(await answer.json()).toMatchObject({ openapi: '3.1.1', servers: [{ url: publicUrl }] });
  const headers = { 'If-None-Match': answer.headers.get('ETag') ?? '' };
  const again = await app.request('/api/openapi.json', { headers });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('files of its package that the reference does not need are not served', async () => {
  for (const name of ['index.html', 'package.json', 'constructor', 'api-reference.js.map'])
    expect((await app.request(`/docs/${name}`)).status, name).toBe(404);
  const script = await app.request('/docs/api-reference.js');
  expect(script.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
});

describe('GET /', () => {
  const get = (accept?: string) => app.request('/', { headers: accept === undefined ? {} : { Accept: accept } });
  const CHROMIUM = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8';

  test.each([
    ...[undefined, '*/*', 'application/*', 'application/json, text/html'],
    ...['application/json, text/html;q=0.5', 'image/png', ';'],
  ])('is JSON for Accept: %s', async (accept) => {
    const answer = await get(accept);
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    expect(await answer.json()).toEqual({
      name: 'Inlet',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      description: expect.stringMatching(/\.$/),
      links: {
        api: `${publicUrl}/api`,
        docs: `${publicUrl}/docs`,
        openapi: `${publicUrl}/api/openapi.json`,
      },
    });
  });

  test.each([CHROMIUM, 'TEXT/HTML', 'text/*', 'application/json;q=0.9, text/html'])(
    'is a page for Accept: %s',
    async (accept) => {
      const answer = await get(accept);
      expect(answer.headers.get('Content-Type')).toBe('text/html; charset=UTF-8');
      const page = await answer.text();
      const { version } = (await (await get()).json()) as { version: string };
      expect(page).toContain('<h1>Inlet</h1>');
      expect(page).toContain(`Version ${version}`);
      const links = [...page.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);
      expect(links).toEqual(['upload', 'admin', 'docs', 'api/openapi.json']);
    },
  );

  test('may show its style, and varies for caches', async () => {
    for (const accept of ['text/html', 'application/json'])
      expect((await get(accept)).headers.get('Vary')).toBe('Accept');
    const answer = await get('text/html');
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(await answer.text()) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(answer.headers.get('Content-Security-Policy')).toContain(`style-src 'sha256-${hash}'`);
  });
});
