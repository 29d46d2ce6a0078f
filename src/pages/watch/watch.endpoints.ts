import type { Context } from 'hono';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { elementUrl, type PublicationElement } from '#publications/model.ts';
import type { PublicationAddresses } from '#publications/presentation.ts';
import { findRecording } from '#publications/queries.ts';
import type { Policy } from '#publications/signing/policy.ts';
import { checkSignature, type Signing } from '#publications/signing/signed-request.ts';
import { CONTENT_SECURITY_POLICY } from './page.ts';
import type { FileAddress } from './recording.ts';
import { missingPage, recordingPage, refusedPage } from './recording-page.ts';

const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  // Whoever has the address may watch: it is told to no other site and to no search engine.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

interface Services {
  database: Database;
  addresses: PublicationAddresses;
}

/**
 * A page that plays the publication, open to whoever knows its unguessable address. Needs no other host and no file
 * beside those of the publication. Where Inlet signs, its address must be signed, and it signs the addresses of the
 * files in it.
 */
export const watchPage = defineEndpoint({
  method: 'get',
  path: '/watch/{publication_id}',
  access: 'public',
  handle: async ({ c, params }, { database, addresses }: Services) => {
    const { publicUrl, signer } = addresses;
    const signing = signer && { publicUrl, signer };
    const checked = signing && checkSignature(c, signing);
    if (checked && 'refusal' in checked) {
      const { status, sentence } = checked.refusal;
      return c.html(refusedPage(sentence), status, { ...HEADERS, 'Cache-Control': 'no-store' });
    }
    const recording = await findRecording(database, params.publication_id);
    if (!recording) return c.html(missingPage(), 404, { ...HEADERS, 'Cache-Control': 'no-store' });
    const fileAddress =
      signing && checked
        ? signedAddresses(c, signing, checked.policy, recording.duration ?? 0)
        : plainAddresses(c);
    const caching = signing ? 'private, no-store' : 'no-cache';
    return c.html(recordingPage(recording, fileAddress), 200, { ...HEADERS, 'Cache-Control': caching });
  },
});

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
