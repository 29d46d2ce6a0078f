import { z } from 'zod';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { formatInstant, parseDateTime } from '#metadata/date-time.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { Instant } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { canonicalAddress } from '#platform/text/ip-address.ts';
import { mayReadPublished } from './publication.queries.ts';
import { publishedAddress } from './publication.ts';
import { PUBLICATION } from './publication-examples.ts';
import type { PublicationAddresses } from './publication-json.ts';

/**
 * Parses a date and time as `parseDateTime` does; the fraction may follow a comma, and an offset may lack minutes. Hour 24,
 * which would be the next day, is refused.
 */
export function parseValidUntil(text: string): Date | undefined {
  const iso = text.trim().toUpperCase().replace(',', '.');
  return iso.includes('T24') ? undefined : parseDateTime(iso.replace(/(T.*[+-]\d{2})$/, '$1:00'));
}

const NO_URL = refusal(400, "Query parameter 'url' is mandatory");
const NO_DATE = refusal(400, "Query parameter 'valid-until' is not a valid ISO-8601 date string");
const NO_ADDRESS = refusal(400, "Query parameter 'valid-source' is not a valid IP address");

const SignForm = z.object({
  url: z.string({ error: NO_URL.example }).trim().min(1, { error: NO_URL.example }).describe('The URL to sign.'),
  'valid-until': optional(parseValidUntil, NO_DATE.example).describe('The end of its validity, in ISO 8601.'),
  'valid-source': optional(canonicalAddress, NO_ADDRESS.example).describe('The only IP address that may use it.'),
});

const SignedUrl = z
  .union([
    z.object({ url: z.url(), 'valid-until': Instant }),
    z.object({ error: z.string().describe('The reason why the URL was not signed.') }),
  ])
  .meta({ id: 'SignedUrl' });

/** Parses an optional field; a blank one counts as missing. */
function optional<T>(parse: (text: string) => T | undefined, error: string) {
  return z
    .string()
    .optional()
    .transform((text, context) => {
      if (!text?.trim()) return undefined;
      const value = parse(text);
      if (value === undefined) context.addIssue(error);
      return value;
    });
}

interface Services {
  database: Database;
  addresses: PublicationAddresses;
}

const SIGNED = `${PUBLICATION.url}?policy=eyJTdGF0ZW1lbnQiOnt9fQ&keyId=demoKeyOne&signature=717dd8f958a15c1c`;
const END = '2026-10-12T10:15:00Z';

/**
 * An address that is not one of a publication (compatibility 5) gets the same response as one of an event that the
 * principal may not read, so that the response never reveals whether it exists.
 */
export const signUrl = defineEndpoint({
  method: 'post',
  path: '/api/security/sign',
  access: apiRole('SECURITY_EDIT'),
  summary: 'Sign a URL',
  description:
    'Signs the URL of a publication or of one of its files. A URL that cannot be signed is answered with status 200, too.',
  form: { schema: SignForm, example: { url: PUBLICATION.url, 'valid-until': END } },
  answers: {
    200: {
      description: 'The signed URL, or the reason why there is none.',
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

/** Returns the normalized address, or undefined if it must not be signed. */
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
