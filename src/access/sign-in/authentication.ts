import type { Context, MiddlewareHandler } from 'hono';
import { isDatabaseOutage } from '#platform/database/retry.ts';
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
import type { Directory } from '../accounts/directory.ts';
import { anonymous, type Principal } from '../principal.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Authenticator } from './authenticator.ts';
import { type DigestAnswer, type DigestVerifier, parseDigest } from './digest/digest-verifier.ts';
import { KeysUnavailable, type TokenVerifier } from './tokens.ts';

interface Credentials {
  username: string;
  password: string;
}

const BASIC_CREDENTIALS = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const BEARER_TOKEN = /^bearer(?: +(.*))?$/i;

/** Returns the token of the scheme Bearer, which may be empty; undefined for another scheme. */
function parseBearer(header: string): string | undefined {
  const found = BEARER_TOKEN.exec(header.trim());
  return found ? (found[1] ?? '') : undefined;
}

/** Parses an HTTP Basic header: UTF-8, with the user name before the first colon; undefined if it is malformed. */
export function parseBasic(header: string): Credentials | undefined {
  const encoded = BASIC_CREDENTIALS.exec(header.trim())?.[1];
  const text = encoded && decode(encoded);
  const colon = text ? text.indexOf(':') : -1;
  if (!text || colon < 1 || text.includes('\0')) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decode(encoded: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}

/**
 * Returns the `WWW-Authenticate` value for a request without valid credentials.
 *
 * - Programs get Digest and Basic in one header, as most proxies and runtimes join headers anyway. Digest comes first,
 *   as some clients read only the first challenge.
 * - The Digest challenge uses MD5: libcurl and python-requests read everything after `Digest` as one list in which the
 *   last value counts. They would use a second challenge with SHA-256, which firmware with libcurl before 7.57 does not
 *   support. SHA-256 responses are accepted and get a SHA-256 challenge.
 * - Browsers get Basic: they prefer Digest, which people's accounts do not support. Over plain HTTP, `Accept` and
 *   `User-Agent` identify browsers, as Java programs accept HTML, too.
 * - A client with a wrong digest gets Basic, whether or not the account exists: clients that use what is offered (`curl
 *   --anyauth`) then send what people's accounts support.
 * - A client with a wrong Basic password gets Basic, as from the reference server.
 * - `X-Requested-Auth` selects one scheme.
 */
export async function challengeFor(c: Context, digest: DigestVerifier): Promise<string> {
  const asked = requestedScheme(c);
  if (asked !== 'digest' && (asked === 'basic' || isBrowser(c) || hasCredentials(c))) return BASIC;
  try {
    const challenge = await digest.challenge({ algorithm: 'MD5', stale: false });
    return asked === 'digest' ? challenge : `${challenge}, ${BASIC}`;
  } catch (error) {
    if (!isDatabaseOutage(error)) throw error;
    return BASIC;
  }
}

/** Returns the authentication scheme that the client requests, in lower case. */
function requestedScheme(c: Context): string | undefined {
  return c.req.header('X-Requested-Auth')?.trim().toLowerCase();
}

/** Detects browsers; over plain HTTP, they send `Origin` only with requests that change data. */
function isBrowser(c: Context): boolean {
  const [accepts = '', name = ''] = [c.req.header('Accept'), c.req.header('User-Agent')];
  return (
    c.req.header('Sec-Fetch-Site') !== undefined ||
    c.req.header('Origin') !== undefined ||
    (/\btext\/html\b/i.test(accepts) && /^Mozilla\//i.test(name))
  );
}

function hasCredentials(c: Context): boolean {
  return /^(basic|digest)\b/i.test(c.req.header('Authorization')?.trim() ?? '');
}

interface AuthMethods {
  /** Adds the roles of groups, read for each request. */
  directory: Pick<Directory, 'withGroups'>;
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
 * session counts as no credentials. Responses that request a password carry all possible challenges.
 */
export function authenticate(methods: AuthMethods): MiddlewareHandler {
  const { sessions, digest, pages = false } = methods;
  return async (c, next) => {
    const header = c.req.header('Authorization');
    try {
      const principal = header === undefined ? await bySession(c, sessions) : await byHeader(c, methods, header);
      if (principal) signedIn(c, await methods.directory.withGroups(principal));
      else c.set('principal', anonymous);
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

async function bySession(c: Context, sessions: Sessions | undefined): Promise<Principal | undefined> {
  const principal = await sessions?.principalOf(c);
  if (principal) c.set('inSession', true);
  return principal;
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
