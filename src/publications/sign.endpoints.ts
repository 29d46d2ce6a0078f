import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { formatInstant } from '#metadata/time.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { PUBLICATION } from './examples.ts';
import { publishedAddress } from './model.ts';
import type { PublicationAddresses } from './presentation.ts';
import { mayReadPublished } from './queries.ts';
import { NO_ADDRESS, NO_DATE, NO_URL, SignedUrl, SignForm } from './sign.schemas.ts';

interface Services {
  database: Database;
  addresses: PublicationAddresses;
}

const SIGNED = `${PUBLICATION.url}?policy=eyJTdGF0ZW1lbnQiOnt9fQ&keyId=demoKeyOne&signature=717dd8f958a15c1c`;
const END = '2026-10-12T10:15:00Z';

/**
 * Any address but one of a publication (compatibility 5) gets the same answer as one of an event that the principal may
 * not read, so that none tells whether it exists.
 */
export const signUrl = defineEndpoint({
  method: 'post',
  path: '/api/security/sign',
  access: apiRole('SECURITY_EDIT'),
  summary: 'Sign an address',
  description: 'Of a publication, or of a file of one. What cannot be signed is said with status 200, too.',
  form: { schema: SignForm, example: { url: PUBLICATION.url, 'valid-until': END } },
  answers: {
    200: {
      description: 'The signed address, or why there is none.',
      body: SignedUrl,
      example: { url: SIGNED, 'valid-until': END },
    },
  },
  refusals: [NO_URL, NO_DATE, NO_ADDRESS],
  handle: async ({ c, form }, { database, addresses }: Services) => {
    const { publicUrl, signer } = addresses;
    const { url, 'valid-until': validUntil, 'valid-source': source } = await form();
    const accepted = signer && (await signable(database, c.var.principal, publicUrl, url));
    if (!signer || !accepted) return versionedJson(c, { error: 'Given URL cannot be signed' });
    const end = validUntil ?? new Date(signer.defaultEnd());
    return versionedJson(c, {
      url: signer.sign(accepted, { validUntil: end.getTime(), source }),
      'valid-until': formatInstant(end),
    });
  },
});

/** The address as it is to be signed; undefined when it is not. */
async function signable(
  database: Database,
  principal: Principal,
  publicUrl: string,
  text: string,
): Promise<string | undefined> {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const address = publishedAddress(publicUrl, url);
  return address && (await mayReadPublished(database, principal, address)) ? url.href : undefined;
}
