import { timingSafeEqual } from 'node:crypto';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithm,
  type DigestSecrets,
  digestOf,
  REALM,
} from '../../accounts/secrets.ts';

/** The answer of a client to a challenge of HTTP Digest. Hashed texts have one character for each byte. */
export interface DigestAnswer {
  username: string;
  nonce: string;
  /** The address that the client states. */
  uri: string;
  /** Hexadecimal digits in lower case. */
  response: string;
  algorithm: DigestAlgorithm;
  /** Undefined for a client of RFC 2069, which knows no `qop`. */
  protection: { qop: string; nc: string; cnonce: string } | undefined;
}

const DIGEST = /^digest(?:\s+|$)/i;
const PARAMETER = /\s*([!#$%&'*+.^`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))\s*(?:,|$)/y;
const HEX = /^[\da-f]+$/i;
const LENGTHS: Readonly<Record<DigestAlgorithm, number>> = { MD5: 32, 'SHA-256': 64 };
const UNREADABLE = 'it cannot be read';

/**
 * Reads an `Authorization` header of the scheme Digest (RFC 7616, and RFC 2069 for old clients).
 *
 * @returns undefined for any other scheme; what is wrong with it, as the end of a sentence; or the answer
 */
export function parseDigest(header: string): DigestAnswer | { fault: string } | undefined {
  const text = header.trim();
  if (!DIGEST.test(text)) return undefined;
  const given = parametersOf(text.replace(DIGEST, ''));
  if (!given) return { fault: UNREADABLE };
  if (given.has('username*')) return { fault: "it has 'username*', which is not known here in place of 'username'" };
  if (/^true$/i.test(given.get('userhash') ?? '')) return { fault: "'userhash' is not known here" };
  const missing = ['username', 'realm', 'nonce', 'uri', 'response'].find((name) => !given.get(name));
  if (missing) return { fault: `'${missing}' is missing` };
  const of = (name: string) => given.get(name) ?? '';
  if (of('realm') !== REALM) return { fault: `the realm is ${REALM}` };
  const wanted = (given.get('algorithm') ?? 'MD5').toUpperCase();
  const algorithm = DIGEST_ALGORITHMS.find((name) => name === wanted);
  if (!algorithm) return { fault: `'algorithm' must be ${DIGEST_ALGORITHMS.join(' or ')}` };
  const response = of('response').toLowerCase();
  if (!HEX.test(response) || response.length !== LENGTHS[algorithm]) {
    return { fault: `'response' must be ${LENGTHS[algorithm]} hexadecimal digits` };
  }
  const username = decodeName(of('username'));
  if (/\p{Cc}/u.test(username)) return { fault: "'username' holds a control character" };
  const answer = { username, nonce: of('nonce'), uri: of('uri'), response, algorithm };
  if (!given.has('qop')) return { ...answer, protection: undefined };
  const [qop, nc, cnonce] = [of('qop'), of('nc'), of('cnonce')];
  if (qop.toLowerCase() !== 'auth') return { fault: "'qop' must be auth" };
  if (!HEX.test(nc) || nc.length > 8) return { fault: "'nc' must be up to eight hexadecimal digits" };
  if (!given.has('cnonce')) return { fault: "'cnonce' is missing" };
  return { ...answer, protection: { qop, nc, cnonce } };
}

/** @returns undefined for what is no list of parameters, or has one of them twice */
function parametersOf(list: string): Map<string, string> | undefined {
  const found = new Map<string, string>();
  let at = 0;
  while (at < list.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(list);
    const name = match?.[1]?.toLowerCase();
    if (!match || name === undefined || found.has(name)) return undefined;
    const [whole, , inQuotes, plain = ''] = match;
    found.set(name, inQuotes === undefined ? plain : unquoted(name, inQuotes));
    at += whole.length;
  }
  return found;
}

/** Unescapes a quoted value; clients write `uri` unescaped, even with a backslash. */
function unquoted(name: string, text: string): string {
  return name === 'uri' ? text : text.replace(/\\(.)/g, '$1');
}

/** UTF-8, or Latin-1 where it cannot be: python-requests sends that, and hashes UTF-8 all the same. */
function decodeName(name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(name, 'latin1'));
  } catch {
    return name;
  }
}

/** Computes the expected response in hexadecimal digits (RFC 7616, section 3.4.1; RFC 2069 without `qop`). */
export function expectedResponse(answer: DigestAnswer, method: string, secrets: DigestSecrets): string {
  const { algorithm, nonce, uri, protection } = answer;
  const hash = (...parts: string[]) => digestOf(algorithm, Buffer.from(parts.join(':'), 'latin1'));
  const secret = algorithm === 'MD5' ? secrets.md5 : secrets.sha256;
  const asked = hash(method, uri);
  if (!protection) return hash(secret, nonce, asked);
  return hash(secret, nonce, protection.nc, protection.cnonce, protection.qop, asked);
}

/** Compares a response with the expected one, in constant time. */
export function isRight(answer: DigestAnswer, method: string, secrets: DigestSecrets): boolean {
  const expected = expectedResponse(answer, method, secrets);
  return timingSafeEqual(Buffer.from(expected), Buffer.from(answer.response));
}

/** Delimiters of an address; encoding one makes another address. */
const DELIMITERS = new Set([...'/?#%&=+;']);

/**
 * Compares the path and query of a digest's `uri` with those of the request. Host and percent-encoding may differ:
 * proxies change both.
 *
 * @param url the address of the request
 * @param prefix of the addresses as clients know them, where a proxy takes it off; without a slash at its end
 */
export function isTarget(uri: string, url: string, prefix: string): boolean {
  const [said, asked] = [pathAndQuery(uri), pathAndQuery(url)];
  return said !== undefined && asked !== undefined && (said === asked || said === prefix + asked);
}

function pathAndQuery(text: string): string | undefined {
  const whole = text.startsWith('/') ? `http://host${text}` : text;
  if (!/^https?:/i.test(whole) || !URL.canParse(whole)) return undefined;
  const { pathname, search } = new URL(whole);
  return `${pathname}${search}`.replace(/%([\da-f]{2})/gi, (encoded, code) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return DELIMITERS.has(character) ? encoded.toUpperCase() : character;
  });
}
