import { createHash } from 'node:crypto';
import { strongEtag } from '#platform/http/answer/etag.ts';
import document from './openapi.json' with { type: 'json' };

/**
 * The document of the API, with the address it has here.
 *
 * @param publicUrl base of the URLs handed out, without a slash at its end
 */
export function servedDocument(publicUrl: string): { text: string; etag: string } {
  const text = JSON.stringify({ ...document, servers: [{ url: publicUrl }] });
  return { text, etag: strongEtag(createHash('sha256').update(text).digest('base64url')) };
}
