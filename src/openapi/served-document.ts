import { createHash } from 'node:crypto';
import { strongEtag } from '#platform/http/answer/etag.ts';
import document from './openapi.json' with { type: 'json' };

/** Returns the OpenAPI document with the public URL of this server. */
export function servedDocument(publicUrl: string): { text: string; etag: string } {
  const text = JSON.stringify({ ...document, servers: [{ url: publicUrl }] });
  return { text, etag: strongEtag(createHash('sha256').update(text).digest('base64url')) };
}
