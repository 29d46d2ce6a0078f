import type { Context, MiddlewareHandler } from 'hono';
import { remoteAddress } from '../../http/server/remote-address.ts';
import { anonymous, type Principal } from '../principal.ts';
import { NOT_BASIC, UNVERIFIABLE, WRONG_PASSWORD } from '../refusals.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Authenticator } from './authenticator.ts';
import { parseBasic, parseBearer } from './credentials.ts';
import { KeysUnavailable } from './key-set.ts';
import type { TokenVerifier } from './tokens.ts';

/** The ways to tell who one is. */
export interface Ways {
  authenticator: Authenticator;
  /** Undefined when there is no identity provider; Bearer is an unknown scheme then. */
  tokens?: TokenVerifier | undefined;
  /** Undefined where browsers have no business. */
  sessions?: Sessions;
  /** Whether people come to pages there, and are led to the one on which they sign in. */
  pages?: boolean;
}

/**
 * HTTP Basic, tokens of an identity provider, and sessions of browsers: sets `c.var.principal`, `signedIn` and `account`. A request without
 * credentials goes on as the anonymous principal (the middleware after this one decides whether that will do); wrong or
 * unreadable ones are refused with 401 whatever the path. A session that is over is none.
 */
export function authenticate({ authenticator, tokens, sessions, pages = false }: Ways): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header('Authorization');
    if (header !== undefined) {
      const token = tokens && parseBearer(header);
      const principal =
        tokens && token !== undefined
          ? await byToken(c, tokens, token)
          : await byPassword(authenticator, header, remoteAddress(c));
      signedIn(c, principal);
      return next();
    }
    const principal = await sessions?.principalOf(c);
    if (principal) {
      signedIn(c, principal);
      c.set('inSession', true);
    } else {
      c.set('principal', anonymous);
    }
    await next();
    // A browser would ask for the password itself, over the page whose session is over; its cookie may be gone as well.
    const byPage =
      sessions?.hasCookie(c) ||
      c.req.header('X-Requested-With') !== undefined ||
      (pages && c.req.header('Sec-Fetch-Site') !== undefined);
    if (sessions && byPage && c.res.status === 401) c.res.headers.delete('WWW-Authenticate');
  };
}

function signedIn(c: Context, principal: Principal): void {
  c.set('principal', principal);
  c.set('signedIn', principal);
  c.set('account', principal.username);
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
