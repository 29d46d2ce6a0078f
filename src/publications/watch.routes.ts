import { type Context, Hono } from 'hono';
import type { Database } from '../database/kysely.ts';
import { elementUrl, type PublicationElement } from './model.ts';
import { findRecording } from './queries.ts';
import type { Policy } from './signing/policy.ts';
import { checkSignature, type Signing } from './signing/signed-request.ts';
import { CONTENT_SECURITY_POLICY } from './watch/page.ts';
import type { FileAddress } from './watch/recording.ts';
import { missingPage, recordingPage, refusedPage } from './watch/recording-page.ts';

const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  // Whoever has the address may watch: it is told to no other site and to no search engine.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

/**
 * `GET /watch/{publication id}`: a page that plays the publication, open to whoever knows its unguessable address.
 * Needs no other host and no file beside those of the publication. With `signing`, its address must be signed, and it
 * signs the addresses of the files in it.
 */
export function watchRoutes({
  database,
  signing,
}: {
  database: Database;
  signing?: Signing | undefined;
}): Hono {
  return new Hono({ strict: false }).get('/watch/:publicationId', async (c) => {
    const checked = signing && checkSignature(c, signing);
    if (checked && 'refusal' in checked) {
      const { status, sentence } = checked.refusal;
      return c.html(refusedPage(sentence), status, { ...HEADERS, 'Cache-Control': 'no-store' });
    }
    const recording = await findRecording(database, c.req.param('publicationId'));
    if (!recording) return c.html(missingPage(), 404, { ...HEADERS, 'Cache-Control': 'no-store' });
    const fileAddress =
      signing && checked
        ? signedAddresses(c, signing, checked.policy, recording.duration ?? 0)
        : plainAddresses(c);
    const caching = signing ? 'private, no-store' : 'no-cache';
    return c.html(recordingPage(recording, fileAddress), 200, { ...HEADERS, 'Cache-Control': caching });
  });
}

/** Relative, so that the page works under whatever name and path a proxy shows it. */
function plainAddresses(c: Context): FileAddress {
  const base = new URL(c.req.url).pathname.endsWith('/') ? '../..' : '..';
  return (element) => elementUrl(base, element);
}

/** As long as it takes to watch, beside the usual time; for the same person as the page. */
function signedAddresses(
  c: Context,
  { signer, publicUrl }: Signing,
  { source }: Policy,
  duration: number,
): FileAddress {
  const relative = plainAddresses(c);
  const validUntil = signer.defaultEnd() + duration;
  return (element: PublicationElement) => {
    const signed = signer.sign(elementUrl(publicUrl, element), { validUntil, source });
    return relative(element) + signed.slice(signed.indexOf('?'));
  };
}
