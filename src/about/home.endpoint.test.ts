import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { endpointApp } from '../../test/support/endpoint-app.ts';
import { home } from './home.endpoint.ts';

const app = endpointApp([home], { config: { publicUrl: 'https://media.example.org/inlet' } });
const get = (accept?: string) =>
  app.request('/', { headers: accept === undefined ? {} : { Accept: accept } });

const CHROMIUM =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8';

describe('GET /', () => {
  test.each([
    undefined,
    '*/*',
    'application/json',
    'application/*',
    'application/json, text/html',
    'application/json, text/html;q=0.5',
    'image/png',
    ';',
  ])('is JSON for Accept: %s', async (accept) => {
    const answer = await get(accept);
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    expect(await answer.json()).toEqual({
      name: 'Inlet',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      description: expect.stringMatching(/\.$/),
      links: {
        api: 'https://media.example.org/inlet/api',
        docs: 'https://media.example.org/inlet/docs',
        openapi: 'https://media.example.org/inlet/api/openapi.json',
      },
    });
  });

  test.each([CHROMIUM, 'text/html', 'TEXT/HTML', 'text/*', 'application/json;q=0.9, text/html'])(
    'is a page for Accept: %s',
    async (accept) => {
      const answer = await get(accept);
      expect(answer.headers.get('Content-Type')).toBe('text/html; charset=UTF-8');
      const page = await answer.text();
      const { version } = (await (await get()).json()) as { version: string };
      expect(page).toContain('<h1>Inlet</h1>');
      expect(page).toContain(`Version ${version}`);
      expect([...page.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
        'upload',
        'docs',
        'api/openapi.json',
      ]);
    },
  );

  test('may show what is in it, and is told apart by caches', async () => {
    for (const accept of ['text/html', 'application/json']) {
      expect((await get(accept)).headers.get('Vary')).toBe('Accept');
    }
    const answer = await get('text/html');
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(await answer.text()) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(answer.headers.get('Content-Security-Policy')).toContain(`style-src 'sha256-${hash}'`);
  });
});
