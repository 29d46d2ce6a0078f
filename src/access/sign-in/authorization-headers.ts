import type { Context } from 'hono';
import { isDatabaseOutage } from '#platform/database/outage.ts';
import { BASIC } from '../access-errors.ts';
import type { DigestVerifier } from './digest/verifier.ts';

export interface Credentials {
  username: string;
  password: string;
}

const BASIC_CREDENTIALS = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const BEARER_TOKEN = /^bearer(?: +(.*))?$/i;

/** Returns the token of the scheme Bearer, which may be empty; undefined for another scheme. */
export function parseBearer(header: string): string | undefined {
  const found = BEARER_TOKEN.exec(header.trim());
  return found ? (found[1] ?? '') : undefined;
}

/**
 * Parses the `Authorization` header of HTTP Basic: UTF-8, with the user name before the first colon. Returns undefined
 * for another scheme, invalid base64 or UTF-8, a missing colon, an empty name, and NUL characters.
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
export function requestedScheme(c: Context): string | undefined {
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
