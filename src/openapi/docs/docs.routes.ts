import { Hono } from 'hono';
import { notFound } from '../../http/errors.ts';
import { matchesNone } from '../../http/etag.ts';
import { assetNamed } from './assets.ts';
import { CONTENT_SECURITY_POLICY, referencePage } from './page.ts';

/** `GET /docs`: the API as a page for people, open to everybody. All of it comes from this server. */
export function docsRoutes(): Hono {
  const app = new Hono({ strict: false });

  app.get('/docs', (c) => {
    // Relative, so that the page works under whatever name and path a proxy shows it.
    const folder = new URL(c.req.url).pathname.endsWith('/') ? '.' : './docs';
    return c.html(referencePage(folder), 200, {
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-cache',
    });
  });

  app.get('/docs/:name', async (c) => {
    const asset = await assetNamed(c.req.param('name'));
    if (!asset) throw notFound();
    const headers = { ETag: asset.etag, 'Cache-Control': 'no-cache' };
    if (matchesNone(c.req.header('If-None-Match'), asset.etag)) return c.body(null, 304, headers);
    return c.body(asset.content, 200, { ...headers, 'Content-Type': asset.type });
  });

  return app;
}
