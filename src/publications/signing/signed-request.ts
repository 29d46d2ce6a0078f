import type { Context } from 'hono';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import type { Policy } from './policy.ts';
import { isRefusal, type Refusal, type UrlSigner } from './url-signer.ts';

/** The settings for checking the address of a request. */
export interface SignatureCheck {
  signer: UrlSigner;
  /** The base of published URLs, without a slash at its end. */
  publicUrl: string;
}

/**
 * Checks the signature of a request's address. Uses the public address, since a proxy may use another name for this
 * server.
 */
export function checkSignature(
  c: Context,
  { signer, publicUrl }: SignatureCheck,
): { policy: Policy } | { refusal: Refusal } {
  const { pathname, search } = new URL(c.req.url);
  const result = signer.verify(`${publicUrl}${pathname}${search}`, remoteAddress(c));
  return isRefusal(result) ? { refusal: result } : { policy: result };
}
