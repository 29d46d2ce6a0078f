import type { Context } from 'hono';
import type { Database } from '#platform/database/kysely.ts';
import { Assets } from '#platform/http/answer/asset.ts';
import { browserModules } from '#platform/http/answer/browser-modules.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { elementUrl, type PublicationElement } from '#publications/model.ts';
import type { PublicationAddresses } from '#publications/presentation.ts';
import { findRecording } from '#publications/queries.ts';
import type { Policy } from '#publications/signing/policy.ts';
import { checkSignature, type Signing } from '#publications/signing/signed-request.ts';
import type { FileAddress } from './player-media.ts';
import { CONTENT_SECURITY_POLICY, missingPage, recordingPage, refusedPage } from './watch-page.ts';

const MODULES = new Assets(browserModules(new URL('./browser/', import.meta.url)));
const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  // The address is all it takes to watch, so no other site and no search engine may get it.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

interface Services {
  database: Database;
  addresses: PublicationAddresses;
}

/**
 * A page that plays the publication, open to everybody who knows its unguessable address. Needs no other host and no file
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
    const addressOf =
      signing && checked ? signedAddresses(c, signing, checked.policy, recording.duration ?? 0) : plainAddresses(c);
    const script = `${rootOf(c)}/watch/assets/player.js`;
    const caching = signing ? 'private, no-store' : 'no-cache';
    return c.html(recordingPage(recording, { addressOf, script }), 200, {
      ...HEADERS,
      'Cache-Control': caching,
    });
  },
});

/** The modules of the page, which everybody may have: they say nothing of a recording, and need no signature. */
export const watchAsset = defineEndpoint({
  method: 'get',
  path: '/watch/assets/{name}',
  access: 'public',
  handle: ({ c, params }) => MODULES.answer(c, params.name),
});

/** Returns where the server's paths begin: relative, so that the page works under every name and path of a proxy. */
function rootOf(c: Context): string {
  return new URL(c.req.url).pathname.endsWith('/') ? '../..' : '..';
}

function plainAddresses(c: Context): FileAddress {
  const root = rootOf(c);
  return (element) => elementUrl(root, element);
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
