import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { matchesNone, strongEtag } from './etag.ts';
import { mediaType } from './version.ts';

/**
 * A JSON answer with an entity tag made from its content, or 304 when the client has it already. The tag depends on
 * the version as well: the same event looks different in another one.
 */
export function conditionalJson(c: Context, body: unknown): Response {
  const text = JSON.stringify(body);
  const type = mediaType(c.get('version'));
  const digest = createHash('sha256').update(type).update(text).digest('base64url');
  const headers = {
    ETag: strongEtag(digest),
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Authorization',
  };
  if (matchesNone(c.req.header('If-None-Match'), headers.ETag)) return c.body(null, 304, headers);
  return c.body(text, 200, { 'Content-Type': type, ...headers });
}
