import type { Context, MiddlewareHandler } from 'hono';
import { HttpError } from '#platform/http/errors/errors.ts';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import {
  BASIC,
  NO_DIGEST,
  NOT_BASIC,
  OTHER_TARGET,
  STALE_NONCE,
  UNVERIFIABLE,
  WRONG_PASSWORD,
} from '../access-errors.ts';
import { anonymous, type Principal } from '../principal.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Authenticator } from './authenticator.ts';
import { askedFor, offer, parseBasic, parseBearer } from './authorization-headers.ts';
import { type DigestAnswer, parseDigest } from './digest/digest-header.ts';
import type { DigestVerifier } from './digest/verifier.ts';
import { KeysUnavailable } from './key-set.ts';
import type { TokenVerifier } from './tokens.ts';

/** The ways to tell who one is. */
export interface Ways {
  authenticator: Authenticator;
  digest: DigestVerifier;
  /** Undefined when there is no identity provider; Bearer is an unknown scheme then. */
  tokens?: TokenVerifier | undefined;
  /** Undefined where browsers have no business. */
  sessions?: Sessions;
  /** Whether people come to pages there, and are led to the one on which they sign in. */
  pages?: boolean;
}

/**
 * HTTP Basic and Digest, tokens of an identity provider, and sessions of browsers: sets `c.var.principal`, `signedIn` and
 * `account`. A request without credentials goes on as the anonymous principal (the middleware after this one decides
 * whether that will do); wrong or unreadable ones are refused with 401 whatever the path, and before anything of a body is
 * read. A session that is over is none. Answers that ask for a password say all the ways there are to send it.
 */
export function authenticate(ways: Ways): MiddlewareHandler {
  const { sessions, digest, pages = false } = ways;
  return async (c, next) => {
    const header = c.req.header('Authorization');
    try {
      if (header !== undefined) signedIn(c, await byHeader(c, ways, header));
      else await bySession(c, sessions);
    } catch (error) {
      const asks = error instanceof HttpError && error.headers['WWW-Authenticate'] === BASIC;
      throw asks ? error.with({ 'WWW-Authenticate': await offer(c, digest) }) : error;
    }
    await next();
    if (c.res.status !== 401 || c.res.headers.get('WWW-Authenticate') !== BASIC) return;
    // A browser would ask for the password itself, over the page whose session is over; its cookie may be gone as well.
    const byPage =
      sessions?.hasCookie(c) ||
      c.req.header('X-Requested-With') !== undefined ||
      (pages && c.req.header('Sec-Fetch-Site') !== undefined);
    const silent = header === undefined && sessions && byPage && askedFor(c) !== 'digest';
    if (silent) c.res.headers.delete('WWW-Authenticate');
    else c.res.headers.set('WWW-Authenticate', await offer(c, digest));
  };
}

async function byHeader(c: Context, ways: Ways, header: string): Promise<Principal> {
  const { authenticator, digest, tokens } = ways;
  const token = tokens && parseBearer(header);
  if (tokens && token !== undefined) return byToken(c, tokens, token);
  const answer = parseDigest(header);
  return answer ? byDigest(c, digest, answer) : byPassword(authenticator, header, remoteAddress(c));
}

async function bySession(c: Context, sessions: Sessions | undefined): Promise<void> {
  const principal = await sessions?.principalOf(c);
  if (!principal) return c.set('principal', anonymous);
  signedIn(c, principal);
  c.set('inSession', true);
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

/** Who sent nothing that can be right, but for the moment, is given a nonce to try again with. */
async function byDigest(
  c: Context,
  digest: DigestVerifier,
  answer: DigestAnswer | { fault: string },
): Promise<Principal> {
  if ('fault' in answer) {
    const again = await digest.challenge({ algorithm: 'MD5', stale: false });
    throw NO_DIGEST(answer.fault).with({ 'WWW-Authenticate': again });
  }
  const { method, url } = c.req;
  const found = await digest.authenticate(answer, { method, url, address: remoteAddress(c) });
  switch (found) {
    case 'elsewhere':
      throw OTHER_TARGET();
    case 'wrong':
      throw WRONG_PASSWORD();
    case 'stale': {
      const again = await digest.challenge({ algorithm: answer.algorithm, stale: true });
      throw STALE_NONCE().with({ 'WWW-Authenticate': again });
    }
    default:
      return found;
  }
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
