import type { Context, MiddlewareHandler } from 'hono';
import { HttpError } from '../http/errors.ts';
import type { Authenticator } from './authenticator.ts';
import { parseBasic, parseBearer } from './credentials.ts';
import { KeysUnavailable } from './key-set.ts';
import { anonymous, type Principal } from './principal.ts';
import type { TokenVerifier } from './tokens.ts';
import { challenge } from './url-roles.ts';

const RETRY_SECONDS = '10';

/**
 * HTTP Basic, and tokens of an identity provider: sets `c.var.principal`, `signedIn` and `account`. A request without
 * credentials goes on as the anonymous principal (the middleware after this one decides whether that will do); wrong or
 * unreadable ones are refused with 401 whatever the path.
 *
 * @param clientAddress the address of the other end of the connection
 * @param tokens undefined when there is no identity provider; Bearer is an unknown scheme then
 */
export function authenticate(
  authenticator: Authenticator,
  clientAddress: (c: Context) => string,
  tokens?: TokenVerifier,
): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header('Authorization');
    if (header === undefined) {
      c.set('principal', anonymous);
    } else {
      const token = tokens && parseBearer(header);
      const principal =
        tokens && token !== undefined
          ? await byToken(c, tokens, token)
          : await byPassword(authenticator, header, clientAddress(c));
      c.set('principal', principal);
      c.set('signedIn', principal);
      c.set('account', principal.username);
    }
    await next();
  };
}

async function byPassword(authenticator: Authenticator, header: string, address: string): Promise<Principal> {
  const credentials = parseBasic(header);
  if (!credentials) throw challenge('The Authorization header is not one of HTTP Basic.');
  const principal = await authenticator.authenticate(credentials.username, credentials.password, address);
  if (!principal) throw challenge('User name or password is wrong.');
  return principal;
}

async function byToken(c: Context, tokens: TokenVerifier, token: string): Promise<Principal> {
  try {
    return await tokens.authenticate(token);
  } catch (error) {
    if (!(error instanceof KeysUnavailable)) throw error;
    c.var.log.error({ err: error }, 'tokens cannot be verified');
    throw new HttpError(503, 'The token cannot be verified at the moment. Try again later.', {
      'Retry-After': RETRY_SECONDS,
    });
  }
}
