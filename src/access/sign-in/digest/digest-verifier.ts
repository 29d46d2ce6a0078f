import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Directory, KnownAgent } from '../../accounts/directory.ts';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithm,
  type DigestSecrets,
  digestOf,
  digestSecrets,
  REALM,
} from '../../accounts/secrets.ts';
import type { Principal } from '../../principal.ts';
import { FRESH_MS } from '../authenticator.ts';
import { SignInAttempts } from '../sign-in-throttle.ts';
import { VerifiedCredentialsCache } from '../verified-credentials.ts';

/** The client's response to an HTTP Digest challenge. Hashed strings hold one byte per character. */
export interface DigestAnswer {
  username: string;
  nonce: string;
  uri: string;
  response: string;
  algorithm: DigestAlgorithm;
  /** Undefined for RFC 2069 clients, which do not support `qop`. */
  protection: { qop: string; nc: string; cnonce: string } | undefined;
}

const DIGEST = /^digest(?:\s+|$)/i;
const PARAMETER = /\s*([!#$%&'*+.^`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))\s*(?:,|$)/y;
const HEX = /^[\da-f]+$/i;
const LENGTHS: Readonly<Record<DigestAlgorithm, number>> = { MD5: 32, 'SHA-256': 64 };
const UNREADABLE = 'it cannot be parsed';

/** Parses a Digest header (RFC 7616 or 2069); `fault` completes a sentence. @returns undefined for other schemes */
export function parseDigest(header: string): DigestAnswer | { fault: string } | undefined {
  const text = header.trim();
  if (!DIGEST.test(text)) return undefined;
  const given = parametersOf(text.replace(DIGEST, ''));
  if (!given) return { fault: UNREADABLE };
  if (given.has('username*')) return { fault: "'username*' is not supported; send 'username'" };
  if (/^true$/i.test(given.get('userhash') ?? '')) return { fault: "'userhash' is not supported" };
  const missing = ['username', 'realm', 'nonce', 'uri', 'response'].find((name) => !given.get(name));
  if (missing) return { fault: `'${missing}' is missing` };
  const of = (name: string) => given.get(name) ?? '';
  if (of('realm') !== REALM) return { fault: `'realm' must be ${REALM}` };
  const wanted = (given.get('algorithm') ?? 'MD5').toUpperCase();
  const algorithm = DIGEST_ALGORITHMS.find((name) => name === wanted);
  if (!algorithm) return { fault: `'algorithm' must be ${DIGEST_ALGORITHMS.join(' or ')}` };
  const response = of('response').toLowerCase();
  if (!HEX.test(response) || response.length !== LENGTHS[algorithm]) {
    return { fault: `'response' must be ${LENGTHS[algorithm]} hexadecimal digits` };
  }
  const username = decodeName(of('username'));
  if (/\p{Cc}/u.test(username)) return { fault: "'username' contains a control character" };
  const answer = { username, nonce: of('nonce'), uri: of('uri'), response, algorithm };
  if (!given.has('qop')) return { ...answer, protection: undefined };
  const [qop, nc, cnonce] = [of('qop'), of('nc'), of('cnonce')];
  if (qop.toLowerCase() !== 'auth') return { fault: "'qop' must be auth" };
  if (!HEX.test(nc) || nc.length > 8) return { fault: "'nc' must be up to eight hexadecimal digits" };
  if (!given.has('cnonce')) return { fault: "'cnonce' is missing" };
  return { ...answer, protection: { qop, nc, cnonce } };
}

/** Parses a parameter list. @returns undefined for a malformed list or a repeated parameter */
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

/** Unescapes a quoted value. Clients do not escape `uri`, even if it contains a backslash. */
function unquoted(name: string, text: string): string {
  return name === 'uri' ? text : text.replace(/\\(.)/g, '$1');
}

/** Decodes UTF-8, or else Latin-1: python-requests sends Latin-1, but hashes UTF-8. */
function decodeName(name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(name, 'latin1'));
  } catch {
    return name;
  }
}

/** Computes the expected response (RFC 7616, section 3.4.1; RFC 2069 without `qop`). */
export function expectedResponse(answer: DigestAnswer, method: string, secrets: DigestSecrets): string {
  const { algorithm, nonce, uri, protection } = answer;
  const hash = (...parts: string[]) => digestOf(algorithm, Buffer.from(parts.join(':'), 'latin1'));
  const secret = algorithm === 'MD5' ? secrets.md5 : secrets.sha256;
  const asked = hash(method, uri);
  if (!protection) return hash(secret, nonce, asked);
  return hash(secret, nonce, protection.nc, protection.cnonce, protection.qop, asked);
}

/** Compares the response with the expected one in constant time. */
export function isValidResponse(answer: DigestAnswer, method: string, secrets: DigestSecrets): boolean {
  const expected = expectedResponse(answer, method, secrets);
  return timingSafeEqual(Buffer.from(expected), Buffer.from(answer.response));
}

/** URL delimiters; encoding one changes the URL. */
const DELIMITERS = new Set([...'/?#%&=+;']);

/** Compares path and query of `uri` and request. Proxies change the host and percent-encoding, and remove `prefix`. */
export function matchesTarget(uri: string, url: string, prefix: string): boolean {
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

interface Parts {
  directory: Pick<Directory, 'findAgent'>;
  nonces: Nonces;
  /** The failure counters shared with passwords. */
  attempts?: SignInAttempts;
  /** The base URL of this server, whose path a proxy may remove. */
  publicUrl: string;
}

interface DigestRequest {
  method: string;
  url: string;
  address: string;
}

/** The reason to reject a digest; `elsewhere` means a digest for another request. */
type DigestFault = 'wrong' | 'stale' | 'elsewhere';

/**
 * Authenticates capture agents by HTTP Digest. People's accounts and unknown names take as long to reject as a wrong
 * password. A request costs two hashes and one read of the account per minute.
 */
export class DigestVerifier {
  readonly #parts: Parts;
  readonly #attempts: SignInAttempts;
  readonly #prefix: string;
  readonly #now: () => number;
  /** Secrets that match no account. */
  readonly #stranger: DigestSecrets = digestSecrets('', randomBytes(32).toString('base64'));
  readonly #read = new VerifiedCredentialsCache<KnownAgent & { readAt: number }>();
  readonly #proven = new VerifiedCredentialsCache<true>();

  /** @param now a monotonic clock in milliseconds */
  constructor(parts: Parts, now: () => number = () => performance.now()) {
    this.#parts = parts;
    this.#attempts = parts.attempts ?? new SignInAttempts(now);
    this.#prefix = new URL(parts.publicUrl).pathname.replace(/\/+$/, '');
    this.#now = now;
  }

  async challenge({ algorithm, stale }: { algorithm: DigestAlgorithm; stale: boolean }): Promise<string> {
    const nonce = await this.#parts.nonces.issue();
    const again = stale ? ', stale=true' : '';
    return `Digest realm="${REALM}", qop="auth", nonce="${nonce}", algorithm=${algorithm}${again}`;
  }

  /** @throws {HttpError} 429 after too many wrong passwords */
  async authenticate(answer: DigestAnswer, request: DigestRequest): Promise<Principal | DigestFault> {
    const { username, nonce, uri } = answer;
    const { method, url, address } = request;
    if (!matchesTarget(uri, url, this.#prefix)) return 'elsewhere';
    // An agent with a proven nonce is exempt from throttling while others guess its password: only the agent has
    // responded to this nonce.
    const proof = this.#proven.digest(username, nonce, address);
    if (!this.#proven.get(proof)) this.#attempts.refuseTooMany(username, address);
    const agent = await this.#find(username, (secrets) => isValidResponse(answer, method, secrets));
    if (!agent) {
      this.#attempts.failed(username, address);
      return 'wrong';
    }
    this.#attempts.succeeded(username, address);
    if (!(await this.#parts.nonces.isGood(nonce))) return 'stale';
    this.#proven.set(proof, true);
    return agent.principal;
  }

  /** Reads a cached account again if the response does not match, as the password may have changed. */
  async #find(username: string, fits: (secrets: DigestSecrets) => boolean): Promise<KnownAgent | undefined> {
    const key = this.#read.digest(username);
    const read = this.#read.get(key);
    const fresh = read && this.#now() - read.readAt < FRESH_MS ? read : undefined;
    if (fits(fresh?.secrets ?? this.#stranger)) return fresh;
    const agent = await this.#parts.directory.findAgent(username);
    if (!agent) this.#read.delete(key);
    else this.#read.set(key, { ...agent, readAt: this.#now() });
    return fits(agent?.secrets ?? this.#stranger) ? agent : undefined;
  }
}

/** Long, as some clients hang if a nonce expires while they stream a recording. */
const LIFETIME_SECONDS = 24 * 60 * 60;
const CHANCE_BYTES = 8;
const SIGNATURE_BYTES = 16;
const FORMAT = /^(([\da-z]{1,10})-[\da-f]{16})-([\w-]+)$/;

/**
 * Issues and checks HTTP Digest nonces: a time, random bytes and a signature, so no state is stored. A nonce is valid
 * in all processes, after a restart, and any number of times: `nc` is not counted, as all processes would have to share
 * the count. An eavesdropper can repeat a request for a day; TLS prevents this.
 */
export class Nonces {
  readonly #key: () => Promise<Buffer>;
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(key: () => Promise<Buffer>, now: () => number = Date.now) {
    this.#key = key;
    this.#now = now;
  }

  async issue(): Promise<string> {
    const second = Math.floor(this.#now() / 1000).toString(36);
    const signed = `${second}-${randomBytes(CHANCE_BYTES).toString('hex')}`;
    return `${signed}-${(await this.#sign(signed)).toString('base64url')}`;
  }

  /** True if this server issued the nonce within the last day. */
  async isGood(nonce: string): Promise<boolean> {
    const [, signed, second, signature] = FORMAT.exec(nonce) ?? [];
    if (signed === undefined || second === undefined || signature === undefined) return false;
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== SIGNATURE_BYTES || !timingSafeEqual(given, await this.#sign(signed))) return false;
    return this.#now() / 1000 - Number.parseInt(second, 36) < LIFETIME_SECONDS;
  }

  async #sign(text: string): Promise<Buffer> {
    const signature = createHmac('sha256', await this.#key())
      .update(text)
      .digest();
    return signature.subarray(0, SIGNATURE_BYTES);
  }
}

/** Returns a function that reads the shared signing key once. */
export function nonceKeyReader(db: Queryable): () => Promise<Buffer> {
  let key: Promise<Buffer> | undefined;
  return () => {
    key ??= readKey(db).catch((error) => {
      // The next request tries again.
      key = undefined;
      throw error;
    });
    return key;
  };
}

async function readKey(db: Queryable): Promise<Buffer> {
  return (await db.selectFrom('nonce_key').select('key').executeTakeFirstOrThrow()).key;
}
