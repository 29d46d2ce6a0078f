import type { Context, MiddlewareHandler } from 'hono';
import { remoteAddress } from '../../http/server/remote-address.ts';
import { anonymous, type Principal } from '../principal.ts';
import { NOT_BASIC, UNVERIFIABLE, WRONG_PASSWORD } from '../refusals.ts';
import type { Authenticator } from './authenticator.ts';
import { parseBasic, parseBearer } from './credentials.ts';
import { KeysUnavailable } from './key-set.ts';
import type { TokenVerifier } from './tokens.ts';

/**
 * HTTP Basic, and tokens of an identity provider: sets `c.var.principal`, `signedIn` and `account`. A request without
 * credentials goes on as the anonymous principal (the middleware after this one decides whether that will do); wrong or
 * unreadable ones are refused with 401 whatever the path.
 *
 * @param tokens undefined when there is no identity provider; Bearer is an unknown scheme then
 */
export function authenticate(authenticator: Authenticator, tokens?: TokenVerifier): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header('Authorization');
    if (header === undefined) {
      c.set('principal', anonymous);
    } else {
      const token = tokens && parseBearer(header);
      const principal =
        tokens && token !== undefined
          ? await byToken(c, tokens, token)
          : await byPassword(authenticator, header, remoteAddress(c));
      c.set('principal', principal);
      c.set('signedIn', principal);
      c.set('account', principal.username);
    }
    await next();
  };
}

async function byPassword(authenticator: Authenticator, header: string, address: string): Promise<Principal> {
  const credentials = parseBasic(header);
  if (!credentials) throw NOT_BASIC();
  const principal = await authenticator.authenticate(credentials.username, credentials.password, address);
  if (!principal) throw WRONG_PASSWORD();
  return principal;
}

async function byToken(c: Context, tokens: TokenVerifier, token: string): Promise<Principal> {
  try {
    return await tokens.authenticate(token);
  } catch (error) {
    if (!(error instanceof KeysUnavailable)) throw error;
    c.var.log.error({ err: error }, 'tokens cannot be verified');
    throw UNVERIFIABLE();
  }
}
