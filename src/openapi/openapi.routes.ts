import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { matchesNone, strongEtag } from '../http/etag.ts';
import document from './openapi.json' with { type: 'json' };

/**
 * `GET /api/openapi.json`: the document of the API, with the address it has here; open to everybody.
 *
 * @param deps.publicUrl base of the URLs handed out, without a slash at its end
 */
export function openApiRoutes({ publicUrl }: { publicUrl: string }): Hono {
  const text = JSON.stringify({ ...document, servers: [{ url: publicUrl }] });
  const etag = strongEtag(createHash('sha256').update(text).digest('base64url'));
  return new Hono({ strict: false }).get('/api/openapi.json', (c) => {
    const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
    if (matchesNone(c.req.header('If-None-Match'), etag)) return c.body(null, 304, headers);
    return c.body(text, 200, { ...headers, 'Content-Type': 'application/json' });
  });
}
