import type { Context, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { PLAIN_TEXT } from '#platform/http/errors/errors.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { findPublishedFile } from './publication.queries.ts';
import { PLAYLIST } from './publication.ts';
import type { PublicationAddresses } from './publication-json.ts';
import { serveFile } from './serve-file.ts';
import { type SignAddress, servePlaylist } from './serve-playlist.ts';
import { checkSignature } from './signing/url-signer.ts';

type PublishedFile = NonNullable<Awaited<ReturnType<typeof findPublishedFile>>>;

/** Files never change but may be retracted, so caches keep them for a limited time. */
const FRESH_SECONDS = 3600;

/** Opened directly, a file may only be displayed and played, whatever it contains. */
const POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/** Lets players on other sites read the files below `/publications`. */
export function publicationCors(): MiddlewareHandler {
  return cors({
    origin: '*',
    allowMethods: ['GET', 'HEAD'],
    allowHeaders: ['Range', 'If-Range', 'If-None-Match'],
    exposeHeaders: ['Accept-Ranges', 'Content-Length', 'Content-Range', 'ETag'],
    maxAge: 86_400,
  });
}

interface Services {
  database: Database;
  storage: ObjectStorage;
  addresses: PublicationAddresses;
}

/**
 * Serves the files of publications to anyone with their unguessable address. If signing is configured, the address must
 * be signed: 400 without a signature, 403 for an invalid one, 410 for an expired one.
 */
export const publishedFile = defineEndpoint({
  method: 'get',
  path: '/publications/{publication_id}/{element_id}/{filename}',
  access: 'public',
  handle: async ({ c, params }, { database, storage, addresses }: Services) => {
    const { publicUrl, signer } = addresses;
    let caching = `public, max-age=${FRESH_SECONDS}`;
    let sign: SignAddress | undefined;
    if (signer) {
      const checked = checkSignature(c, { signer, publicUrl });
      if ('refusal' in checked) return refuse(c, checked.refusal.status, checked.refusal.sentence);
      const { validUntil, source } = checked.policy;
      caching = privateUntil(validUntil);
      sign = (url) => signer.sign(url, { validUntil, source });
    }
    const { publication_id: publicationId, element_id: elementId, filename } = params;
    const file = await findPublishedFile(database, { publicationId, elementId, filename });
    if (!file) return refuseMissing(c);
    const headers = headersOf(file, caching);
    const url = `${publicUrl}${new URL(c.req.url).pathname}`;
    const isMade = file.filename !== filename || (file.mediatype === PLAYLIST && sign);
    const served = isMade
      ? await servePlaylist(c, storage, file, { url, sign, headers })
      : await serveFile(c, storage, file, headers);
    return served ?? refuseMissing(c);
  },
});

function headersOf(file: PublishedFile, caching: string): Record<string, string> {
  return {
    'Content-Disposition': `inline; filename="${file.filename}"`,
    'Cache-Control': caching,
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Forbids shared caches, and caching beyond the expiry of the address. */
function privateUntil(end: number): string {
  return `private, max-age=${Math.min(FRESH_SECONDS, Math.floor((end - Date.now()) / 1000))}`;
}

function refuseMissing(c: Context): Response {
  return refuse(c, 404, 'The file does not exist or is no longer published.');
}

function refuse(c: Context, status: 400 | 403 | 404 | 410, sentence: string): Response {
  return c.body(sentence, status, { 'Content-Type': PLAIN_TEXT, 'Cache-Control': 'no-store' });
}
