import { DIGEST_ALGORITHMS, type DigestAlgorithm, REALM } from '../../accounts/digest-secrets.ts';

/** What a client answers to a challenge of HTTP Digest. Texts that go into its response are one character for each byte. */
export interface DigestAnswer {
  username: string;
  nonce: string;
  /** What it asks for, as it says. */
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
  if (given.has('username*'))
    return { fault: "it has 'username*', which is not known here in place of 'username'" };
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

/** Clients write what they ask for as it is, also where it holds a backslash. */
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
