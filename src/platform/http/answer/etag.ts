import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { mediaType } from './version.ts';

export function strongEtag(digest: string): string {
  return `"${digest}"`;
}

/** Returns true if If-None-Match names the tag (weak comparison), so that the client has the content. */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const opaque = (tag: string) => tag.replace(/^W\//, '');
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some((candidate) => opaque(candidate) === opaque(etag));
}

/**
 * Returns true if If-Range is absent or names the tag (strong comparison). No date matches: no Last-Modified is sent.
 */
export function allowsRange(header: string | undefined, etag: string): boolean {
  return header === undefined || (header.trim() === etag && !etag.startsWith('W/'));
}

/** Responds with JSON and an entity tag of content and version, or 304. */
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
