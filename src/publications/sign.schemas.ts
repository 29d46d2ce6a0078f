import { z } from 'zod';
import { Instant } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { canonicalAddress } from '#platform/text/ip-address.ts';
import { parseValidUntil } from './signing/valid-until.ts';

export const NO_URL = refusal(400, "Query parameter 'url' is mandatory");
export const NO_DATE = refusal(400, "Query parameter 'valid-until' is not a valid ISO-8601 date string");
export const NO_ADDRESS = refusal(400, "Query parameter 'valid-source' is not a valid IP address");

/** What to sign, and how. */
export const SignForm = z.object({
  url: z.string({ error: NO_URL.example }).trim().min(1, { error: NO_URL.example }).describe('The address.'),
  'valid-until': read(parseValidUntil, NO_DATE.example).describe('Until when it may be used; ISO 8601.'),
  'valid-source': read(canonicalAddress, NO_ADDRESS.example).describe(
    'The only IP address from which it may be used.',
  ),
});

/** A signed address, or why there is none. */
export const SignedUrl = z
  .union([
    z.object({ url: z.url(), 'valid-until': Instant }),
    z.object({ error: z.string().describe('Why the address was not signed.') }),
  ])
  .meta({ id: 'SignedUrl' });

/** A field that may be blank or missing. */
function read<T>(parse: (text: string) => T | undefined, error: string) {
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
