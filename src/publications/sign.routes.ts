import { Hono } from 'hono';
import type { Principal } from '../access/principal.ts';
import type { Database } from '../database/kysely.ts';
import { checked } from '../http/check.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import { formatInstant } from '../metadata/time.ts';
import { publishedAddress } from './model.ts';
import type { PublicationAddresses } from './presentation.ts';
import { mayReadPublished } from './queries.ts';
import { SignForm } from './sign.schemas.ts';

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
    const form = checked(SignForm, Object.fromEntries(await readFields(c.req.raw)));
    const { url, 'valid-until': validUntil, 'valid-source': source } = form;
    const accepted = signer && (await signable(c.var.principal, url));
    if (!signer || !accepted) return versionedJson(c, { error: 'Given URL cannot be signed' });
    const end = validUntil ?? new Date(signer.defaultEnd());
    return versionedJson(c, {
      url: signer.sign(accepted, { validUntil: end.getTime(), source }),
      'valid-until': formatInstant(end),
    });
  });
}
