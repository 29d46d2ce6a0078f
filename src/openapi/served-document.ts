import { createHash } from 'node:crypto';
import { strongEtag } from '#platform/http/answer/etag.ts';
import document from './openapi.json' with { type: 'json' };

export type ServedDocument = ReturnType<typeof servedDocument>;

/** Returns the OpenAPI document with the public URL of this server. */
export function servedDocument(publicUrl: string) {
  const text = JSON.stringify({ ...document, servers: [{ url: publicUrl }] });
  return { text, etag: strongEtag(createHash('sha256').update(text).digest('base64url')) };
}
