import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { relativeTo } from '../urls/relative-urls.ts';
import { destination } from './sign-in-page.ts';

describe('where a sign-in leads', () => {
  test.each(['/admin', '/admin/queues/?page=2&x=%2F#top', '/upload', '/', '/api/events?filter=a:b'])(
    '%s is gone on to',
    (path) => expect(destination(path)).toBe(path),
  );

  test.each([
    ...[undefined, '', 'admin', '//evil.example', '/\\evil.example', '\\\\evil.example'],
    ...['/\t/evil.example', '/admin\r\nSet-Cookie: a=b', '/a\\b', ' /admin', '/ä'],
    ...['https://evil.example/', 'javascript:alert(1)'],
  ])('%j leads to the operator’s page instead', (path) => {
    expect(destination(path)).toBe('/admin');
  });

  test.each(['/', '/sign-in', '/admin/', '/admin/queues', '/admin/queues/a/b'])(
    'seen from %s, every path stays on this server, under a proxy’s prefix as well',
    async (from) => {
      const app = new Hono().all('*', (c) => c.text(relativeTo(c, destination(c.req.query('next')))));
      for (const next of ['/admin/queues/', '/..//evil.example', '/.//evil.example', '/?a=//evil.example']) {
        const relative = await (await app.request(`${from}?next=${encodeURIComponent(next)}`)).text();
        const { host, pathname } = new URL(relative, `https://own.example/inlet${from}`);
        expect(host).toBe('own.example');
        if (next === '/admin/queues/') expect(pathname).toBe(`/inlet${next}`);
      }
    },
  );
});
