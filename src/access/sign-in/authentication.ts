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
import { challengeFor, parseBasic, parseBearer, requestedScheme } from './authorization-headers.ts';
import { type DigestAnswer, parseDigest } from './digest/digest-header.ts';
import type { DigestVerifier } from './digest/verifier.ts';
import { KeysUnavailable } from './key-set.ts';
import type { TokenVerifier } from './tokens.ts';

/** The supported authentication methods. */
interface AuthMethods {
  authenticator: Authenticator;
  digest: DigestVerifier;
  /** Undefined without an identity provider; Bearer is an unknown scheme then. */
  tokens?: TokenVerifier | undefined;
  /** Undefined where browser sessions are not supported. */
  sessions?: Sessions;
  /** True if the server has pages with a sign-in form. */
  pages?: boolean;
}

/**
 * Authenticates requests by HTTP Basic, HTTP Digest, a token of the identity provider or a browser session, and sets
 * `c.var.principal`, `signedIn` and `account`. A request without credentials continues as the anonymous principal;
 * later middleware decides on access. Invalid credentials get 401 on every path, before the body is read. An expired
 * session counts as no credentials. Responses that request a password challengeFor all possible challenges.
 */
export function authenticate(methods: AuthMethods): MiddlewareHandler {
  const { sessions, digest, pages = false } = methods;
  return async (c, next) => {
    const header = c.req.header('Authorization');
    try {
      if (header !== undefined) signedIn(c, await byHeader(c, methods, header));
      else await bySession(c, sessions);
    } catch (error) {
      const asks = error instanceof HttpError && error.headers['WWW-Authenticate'] === BASIC;
      throw asks ? error.with({ 'WWW-Authenticate': await challengeFor(c, digest) }) : error;
    }
    await next();
    if (c.res.status !== 401 || c.res.headers.get('WWW-Authenticate') !== BASIC) return;
    // With a challenge, the browser would show its own password prompt over the page whose session has expired; the
    // cookie may be gone as well.
    const byPage =
      sessions?.hasCookie(c) ||
      c.req.header('X-Requested-With') !== undefined ||
      (pages && c.req.header('Sec-Fetch-Site') !== undefined);
    const isSilent = header === undefined && sessions && byPage && requestedScheme(c) !== 'digest';
    if (isSilent) c.res.headers.delete('WWW-Authenticate');
    else c.res.headers.set('WWW-Authenticate', await challengeFor(c, digest));
  };
}

async function byHeader(c: Context, methods: AuthMethods, header: string): Promise<Principal> {
  const { authenticator, digest, tokens } = methods;
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

/** A malformed or stale digest gets a new nonce to try again with. */
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
    c.var.log.error({ err: error }, 'cannot verify tokens of the identity provider');
    throw UNVERIFIABLE();
  }
}
