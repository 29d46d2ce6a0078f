import { Hono } from 'hono';
import type { Principal } from '../access/principal.ts';
import type { Database } from '../database/kysely.ts';
import { badRequest } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import { formatInstant } from '../metadata/time.ts';
import { publishedAddress } from './model.ts';
import type { PublicationAddresses } from './presentation.ts';
import { mayReadPublished } from './queries.ts';
import { parseInstant } from './signing/instant.ts';
import { canonicalAddress } from './signing/ip-address.ts';

/**
 * `POST /api/security/sign` (compatibility 5): signs an address of a publication or of a file of one. Any other
 * address gets the same answer as one of an event that the principal may not read, so that none tells whether it exists.
 */
export function signRoutes({
  database,
  publicUrl,
  signer,
}: PublicationAddresses & { database: Database }): Hono {
  /** The address as it is to be signed; undefined when it is not. */
  async function signable(principal: Principal, text: string): Promise<string | undefined> {
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    const address = publishedAddress(publicUrl, url);
    return address && (await mayReadPublished(database, principal, address)) ? url.href : undefined;
  }

  return new Hono({ strict: false }).post('/api/security/sign', async (c) => {
    const fields = await readFields(c.req.raw);
    const url = fields.get('url')?.trim() ?? '';
    if (url === '') throw badRequest("Query parameter 'url' is mandatory");
    const given = validUntil(fields.get('valid-until') ?? '');
    const source = validSource(fields.get('valid-source') ?? '');
    const accepted = signer && (await signable(c.var.principal, url));
    if (!signer || !accepted) return versionedJson(c, { error: 'Given URL cannot be signed' });
    const end = given ?? new Date(signer.defaultEnd());
    return versionedJson(c, {
      url: signer.sign(accepted, { validUntil: end.getTime(), source }),
      'valid-until': formatInstant(end),
    });
  });
}

function validUntil(text: string): Date | undefined {
  if (text.trim() === '') return undefined;
  const instant = parseInstant(text);
  if (!instant) throw badRequest("Query parameter 'valid-until' is not a valid ISO-8601 date string");
  return instant;
}

function validSource(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  const address = canonicalAddress(text);
  if (!address) throw badRequest("Query parameter 'valid-source' is not a valid IP address");
  return address;
}
