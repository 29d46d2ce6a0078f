import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { mediaType } from './version.ts';

/** The strong entity tag of content with this digest. */
export function strongEtag(digest: string): string {
  return `"${digest}"`;
}

/** Whether an If-None-Match header names the tag (weak comparison): the client has the content already. */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some((candidate) => opaque(candidate) === opaque(etag));
}

/**
 * Whether a range may be served under an If-Range header: there is none, or it names the tag (strong comparison).
 * A date never does, because no Last-Modified is sent that it could come from.
 */
export function allowsRange(header: string | undefined, etag: string): boolean {
  return header === undefined || (header.trim() === etag && !etag.startsWith('W/'));
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}

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
