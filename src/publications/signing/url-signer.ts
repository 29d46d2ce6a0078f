import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { canonicalAddress } from '#platform/text/ip-address.ts';
import { tryParseJson } from '#platform/text/json.ts';

/** The permission that a signature gives: one address, an end, and optionally a beginning and a client. */
export interface Policy {
  resource: string;
  /** Milliseconds since 1970, like all times here. */
  validUntil: number;
  validFrom?: number | undefined;
  /** The only IP address that may use it. */
  source?: string | undefined;
}

const Document = z.object({
  Statement: z.object({
    Condition: z.object({
      DateGreaterThan: z.number().optional(),
      DateLessThan: z.number(),
      IpAddress: z.string().optional(),
    }),
    Resource: z.string(),
  }),
});

/** Returns the text to sign, byte for byte as other implementations of the format write it. */
function policyText({ resource, validUntil, validFrom, source }: Policy): string {
  const Condition = {
    ...(validFrom !== undefined && { DateGreaterThan: validFrom }),
    DateLessThan: validUntil,
    ...(source !== undefined && { IpAddress: source }),
  };
  return JSON.stringify({ Statement: { Condition, Resource: resource } }).replaceAll('/', '\\/');
}

/** Parses a policy; undefined for any other text. */
function parsePolicy(text: string): Policy | undefined {
  const parsed = Document.safeParse(tryParseJson(text));
  if (!parsed.success) return undefined;
  const { Condition, Resource } = parsed.data.Statement;
  return {
    resource: Resource,
    validUntil: Condition.DateLessThan,
    validFrom: Condition.DateGreaterThan,
    source: Condition.IpAddress,
  };
}

/** The parameters that a signature adds to an address. */
const SIGNATURE_PARAMETERS: readonly string[] = ['policy', 'keyId', 'signature'];

/** Returns true if an address has parameters of a signature. */
export function hasSignature(url: string): boolean {
  const { searchParams } = new URL(url);
  return SIGNATURE_PARAMETERS.some((name) => searchParams.has(name));
}

/** Removes the parameters of a signature and the fragment. */
function withoutSignature(url: string): string {
  const [address = '', query] = (url.split('#', 1)[0] ?? '').split(/\?(.*)/s, 2);
  if (query === undefined) return address;
  const kept = query.split('&').filter((pair) => !SIGNATURE_PARAMETERS.includes(pair.split('=', 1)[0] ?? ''));
  return kept.length > 0 ? `${address}?${kept.join('&')}` : address;
}

/** Returns true if two addresses are the same but for the order of parameters and their signatures. */
function sameResource(one: string, other: string): boolean {
  const [a, b] = [canonicalForm(one), canonicalForm(other)];
  return a !== undefined && a === b;
}

function canonicalForm(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, searchParams } = new URL(text);
  const parameters = [...searchParams].filter(([name]) => !SIGNATURE_PARAMETERS.includes(name));
  return JSON.stringify([origin, pathname, parameters.map((pair) => JSON.stringify(pair)).sort()]);
}

/** A secret that several servers may share, and its name in signed addresses. */
interface SigningKey {
  keyId: string;
  secret: string;
}

/** The client and the period for which a signed address is valid, in milliseconds since 1970. */
export type SigningTerms = Omit<Policy, 'resource'>;

/** The reason why a signed address is refused. */
export interface Refusal {
  status: 400 | 403 | 410;
  sentence: string;
}

const INVALID_SIGNATURE = 'The signature of this URL is invalid.';

/**
 * Signs and verifies addresses in the format of the reference (compatibility 5): the policy as base64url, the
 * identifier of the key, and the HMAC-SHA256 of the policy's text in hexadecimal.
 */
export class UrlSigner {
  readonly #key: SigningKey;
  readonly #ttlMs: number;

  /** @param options.ttlSeconds the default validity */
  constructor({ keyId, secret, ttlSeconds }: SigningKey & { ttlSeconds: number }) {
    this.#key = { keyId, secret };
    this.#ttlMs = ttlSeconds * 1000;
  }

  /** Returns the default end of validity, in milliseconds since 1970. */
  defaultEnd(now = Date.now()): number {
    return now + this.#ttlMs;
  }

  /** Signs an address, and replaces a signature that it may have. */
  sign(url: string, terms: SigningTerms): string {
    const resource = withoutSignature(url);
    const text = policyText({ ...terms, resource });
    const policy = Buffer.from(text).toString('base64url');
    const signature = this.#digest(text).toString('hex');
    const start = resource.includes('?') ? '&' : '?';
    const query = `policy=${policy}&keyId=${encodeURIComponent(this.#key.keyId)}&signature=${signature}`;
    return `${resource}${start}${query}${/#.*$/s.exec(url)?.[0] ?? ''}`;
  }

  /**
   * Verifies the signature of an address, now and for one client.
   *
   * @param url the whole public address
   * @param remoteAddress the client's IP address
   */
  verify(url: string, remoteAddress: string, now = Date.now()): Policy | Refusal {
    const { searchParams } = new URL(url);
    const values = SIGNATURE_PARAMETERS.map((name) => searchParams.getAll(name));
    if (values.some((given) => given.length !== 1 || given[0] === '')) {
      return refusal(400, 'A signed URL must have the parameters policy, keyId and signature, each once.');
    }
    const [[encoded = ''] = [], [keyId] = [], [signature = ''] = []] = values;
    if (keyId !== this.#key.keyId) return refusal(403, 'The key of this signed URL is unknown.');
    const text = Buffer.from(encoded, 'base64url').toString();
    if (Buffer.from(text).toString('base64url') !== encoded) return refusal(403, INVALID_SIGNATURE);
    if (!this.#isSignatureOf(text, signature)) return refusal(403, INVALID_SIGNATURE);
    const policy = parsePolicy(text);
    if (!policy) return refusal(403, 'The policy of this signed URL is invalid.');
    if (!sameResource(policy.resource, url)) return refusal(403, 'The signature is for another URL.');
    return checkPolicy(policy, remoteAddress, now);
  }

  #isSignatureOf(text: string, signature: string): boolean {
    if (!/^[0-9a-f]{64}$/.test(signature)) return false;
    return timingSafeEqual(Buffer.from(signature, 'hex'), this.#digest(text));
  }

  #digest(text: string): Buffer {
    return createHmac('sha256', this.#key.secret).update(text).digest();
  }
}

export function isRefusal(result: Policy | Refusal): result is Refusal {
  return 'status' in result;
}

function checkPolicy(policy: Policy, remoteAddress: string, now: number): Policy | Refusal {
  if (now >= policy.validUntil) return refusal(410, 'This signed URL has expired.');
  if (policy.validFrom !== undefined && now <= policy.validFrom) {
    return refusal(403, 'This signed URL is not valid yet.');
  }
  if (policy.source === undefined) return policy;
  const allowed = canonicalAddress(policy.source);
  const matches = allowed && allowed === canonicalAddress(remoteAddress);
  return matches ? policy : refusal(403, 'This signed URL is bound to another IP address.');
}

function refusal(status: Refusal['status'], sentence: string): Refusal {
  return { status, sentence };
}
