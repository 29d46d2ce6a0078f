import type { Context } from 'hono';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import type { Policy } from './policy.ts';
import { isRefusal, type Refusal, type UrlSigner } from './url-signer.ts';

/** What it takes to check the address of a request. */
export interface Signing {
  signer: UrlSigner;
  /** Base of the URLs that are handed out, without a slash at its end. */
  publicUrl: string;
}

/**
 * What the signature of a request's address allows, or why it is refused. The address is the one the world knows, also
 * behind a proxy that calls this server by another name.
 */
export function checkSignature(c: Context, { signer, publicUrl }: Signing): { policy: Policy } | { refusal: Refusal } {
  const { pathname, search } = new URL(c.req.url);
  const result = signer.verify(`${publicUrl}${pathname}${search}`, remoteAddress(c));
  return isRefusal(result) ? { refusal: result } : { policy: result };
}
