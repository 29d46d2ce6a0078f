import type { Context } from 'hono';
import { isDatabaseOutage } from '#platform/database/outage.ts';
import { BASIC } from '../access-errors.ts';
import type { DigestVerifier } from './digest/verifier.ts';

/** A user name and a password as a client sent them. */
export interface Credentials {
  username: string;
  password: string;
}

const BASIC_CREDENTIALS = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const BEARER_TOKEN = /^bearer(?: +(.*))?$/i;

/** The token of an `Authorization` header of the scheme Bearer, which may be empty; undefined for any other scheme. */
export function parseBearer(header: string): string | undefined {
  const found = BEARER_TOKEN.exec(header.trim());
  return found ? (found[1] ?? '') : undefined;
}

/**
 * Reads the `Authorization` header of HTTP Basic: UTF-8, the first colon ends the name. Undefined for any other
 * scheme, what is no base64 or UTF-8, a missing colon, an empty name, and NUL characters.
 */
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
 * Builds the `WWW-Authenticate` value of a request that has no valid credentials.
 *
 * - Programs are offered Digest and Basic. Both stand in one header, as most proxies and runtimes join them anyway, and
 *   Digest comes first, since some clients look no further.
 * - One challenge of Digest, with MD5: libcurl and python-requests take all that follows `Digest` for one list in which
 *   the last value counts. A second one with SHA-256 would be what they use, and firmware with a libcurl before 7.57
 *   cannot. Answers with SHA-256 are accepted, and a client that sent one is asked for another.
 * - Browsers are offered Basic: they would prefer Digest, which people's accounts do not have. Over plain HTTP they are known
 *   by their `Accept` and `User-Agent`; programs on Java accept pages, too.
 * - A client that sent a wrong digest is offered Basic, whether the account exists or not: clients that take what is
 *   offered (`curl --anyauth`) then send what people's accounts have.
 * - A client that sent a wrong password with Basic is offered Basic, as by the reference.
 * - `X-Requested-Auth` chooses one of them.
 */
export async function offer(c: Context, digest: DigestVerifier): Promise<string> {
  const asked = askedFor(c);
  if (asked !== 'digest' && (asked === 'basic' || fromBrowser(c) || hasCredentials(c))) return BASIC;
  try {
    const challenge = await digest.challenge({ algorithm: 'MD5', stale: false });
    return asked === 'digest' ? challenge : `${challenge}, ${BASIC}`;
  } catch (error) {
    if (!isDatabaseOutage(error)) throw error;
    return BASIC;
  }
}

/** Returns the authentication scheme that a client asks for, in lower case. */
export function askedFor(c: Context): string | undefined {
  return c.req.header('X-Requested-Auth')?.trim().toLowerCase();
}

/** Recognizes browsers; over plain HTTP they send `Origin` only with requests that change something. */
function fromBrowser(c: Context): boolean {
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
