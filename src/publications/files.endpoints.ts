import type { Context, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { SIGN_IN } from '#access/access-errors.ts';
import { anonymous } from '#access/principal.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { PLAIN_TEXT } from '#platform/http/errors/errors.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { findPublishedFile } from './publication.queries.ts';
import { PLAYLIST } from './publication.ts';
import type { PublicationAddresses } from './publication-json.ts';
import { serveFile } from './serve-file.ts';
import { servePlaylist } from './serve-playlist.ts';
import { admit, type Grant, visitOf } from './watch-access.ts';

type PublishedFile = NonNullable<Awaited<ReturnType<typeof findPublishedFile>>>;

/** Files never change but may be retracted, so caches ask again after this time. */
const FRESH_SECONDS = 3600;
const IMMUTABLE = `public, max-age=31536000, s-maxage=${FRESH_SECONDS}, immutable`;

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
 * Serves the files of publications to everyone with their unguessable address. Where addresses must be signed, an address
 * without a signature gets 400, with an invalid one 403, with an expired one 410. With `WATCH_ACCESS=strict`, files of
 * recordings that not everyone may read require a signature or an account that may read them.
 */
export const publishedFile = defineEndpoint({
  method: 'get',
  path: '/publications/{publication_id}/{element_id}/{filename}',
  access: 'public',
  handle: async ({ c, params }, { database, storage, addresses }: Services) => {
    const { publication_id: publicationId, element_id: elementId, filename } = params;
    const admission = await admit(visitOf(c, addresses, { isFile: true }), addresses, () =>
      findPublishedFile(database, { publicationId, elementId, filename }, c.get('principal') ?? anonymous),
    );
    if (!admission) return refuseMissing(c);
    if (!admission.found) {
      const { status, sentence } = admission.denial;
      if (status === 401) throw SIGN_IN().with({ 'Cache-Control': 'no-store' });
      return refuse(c, status, sentence);
    }
    const { found: file, grant } = admission;
    const isRendition = file.filename !== filename;
    const headers = headersOf(file, cachingOf(grant, isRendition || file.mediatype === PLAYLIST));
    const signing = signingOf(c, addresses, file, grant);
    const served =
      isRendition || (file.mediatype === PLAYLIST && signing.sign)
        ? await servePlaylist(c, storage, file, { ...signing, headers })
        : await serveFile(c, storage, file, headers);
    return served ?? refuseMissing(c);
  },
});

/** Returns the address of a playlist, and how to sign what it names: as itself, or for one viewing by a reader. */
function signingOf(c: Context, { publicUrl, signer }: PublicationAddresses, file: PublishedFile, grant: Grant) {
  const url = `${publicUrl}${new URL(c.req.url).pathname}`;
  if (!signer || (grant.by !== 'signature' && grant.by !== 'reader')) return { url, sign: undefined };
  const terms =
    grant.by === 'signature'
      ? { validUntil: grant.policy.validUntil, source: grant.policy.source }
      : { validUntil: signer.defaultEnd() + (file.duration ?? 0) };
  return { url, sign: (address: string) => signer.sign(address, terms) };
}

function headersOf(file: PublishedFile, caching: string): Record<string, string> {
  return {
    'Content-Disposition': `inline; filename="${file.filename}"`,
    'Cache-Control': caching,
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  };
}

/**
 * Returns the `Cache-Control` of a file. Files of recordings that everyone may read stay in browsers, since they never
 * change; shared caches ask again each hour, since they may be retracted. Others are for one browser: not beyond the
 * expiry of the address, and after a new check where the access control list decides.
 */
function cachingOf(grant: Grant, isPlaylist: boolean): string {
  switch (grant.by) {
    case 'everyone':
      return isPlaylist ? `public, max-age=${FRESH_SECONDS}` : IMMUTABLE;
    case 'link':
      return `private, max-age=${FRESH_SECONDS}`;
    case 'reader':
      return 'private, no-cache';
    case 'signature':
      return `private, max-age=${Math.min(FRESH_SECONDS, Math.floor((grant.policy.validUntil - Date.now()) / 1000))}`;
  }
}

function refuseMissing(c: Context): Response {
  return refuse(c, 404, 'The file does not exist or is no longer published.');
}

function refuse(c: Context, status: 400 | 403 | 404 | 410, sentence: string): Response {
  return c.body(sentence, status, { 'Content-Type': PLAIN_TEXT, 'Cache-Control': 'no-store' });
}
