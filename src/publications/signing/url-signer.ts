import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalAddress } from '#platform/text/ip-address.ts';
import { type Policy, parsePolicy, policyText } from './policy.ts';

/** What a signature adds to an address. */
const SIGNATURE_PARAMETERS: readonly string[] = ['policy', 'keyId', 'signature'];

/** An address without the parameters of a signature, otherwise as it was written; what follows a `#` is cut off. */
function withoutSignature(url: string): string {
  const [address = '', query] = (url.split('#', 1)[0] ?? '').split(/\?(.*)/s, 2);
  if (query === undefined) return address;
  const kept = query.split('&').filter((pair) => !SIGNATURE_PARAMETERS.includes(pair.split('=', 1)[0] ?? ''));
  return kept.length > 0 ? `${address}?${kept.join('&')}` : address;
}

/** Whether two addresses mean the same, whatever the order of their parameters. Signatures do not count. */
function sameResource(one: string, other: string): boolean {
  const [a, b] = [meaning(one), meaning(other)];
  return a !== undefined && a === b;
}

function meaning(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, searchParams } = new URL(text);
  const parameters = [...searchParams].filter(([name]) => !SIGNATURE_PARAMETERS.includes(name));
  return JSON.stringify([origin, pathname, parameters.map((pair) => JSON.stringify(pair)).sort()]);
}

/** A secret that several servers may share, and the name it goes by in signed addresses. */
interface SigningKey {
  keyId: string;
  secret: string;
}

/** Who may use a signed address, and until when. Times in milliseconds since 1970. */
export type SigningTerms = Omit<Policy, 'resource'>;

/** Why a signed address is not good, for the answer to whoever asked. */
export interface Refusal {
  status: 400 | 403 | 410;
  sentence: string;
}

const NOT_GOOD = 'The signature of this address is not good.';

/**
 * Signs addresses and tells whether one is signed, in the format of the reference (compatibility 5): the policy as
 * base64url, the identifier of the key, and the HMAC-SHA256 of the policy's text as hexadecimal digits.
 */
export class UrlSigner {
  readonly #key: SigningKey;
  readonly #ttlMs: number;

  /** @param options.ttlSeconds how long an address is good when nobody says otherwise */
  constructor({ keyId, secret, ttlSeconds }: SigningKey & { ttlSeconds: number }) {
    this.#key = { keyId, secret };
    this.#ttlMs = ttlSeconds * 1000;
  }

  /** When what is signed now ends to be good, in milliseconds since 1970. */
  defaultEnd(now = Date.now()): number {
    return now + this.#ttlMs;
  }

  /** The address with a signature at its end, in place of one it may have had. */
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
   * What the signature of an address allows now and to this peer, or why it allows nothing.
   *
   * @param url the whole address as the world knows it
   * @param remoteAddress the peer's IP address
   */
  verify(url: string, remoteAddress: string, now = Date.now()): Policy | Refusal {
    const { searchParams } = new URL(url);
    const values = SIGNATURE_PARAMETERS.map((name) => searchParams.getAll(name));
    if (values.some((given) => given.length !== 1 || given[0] === '')) {
      return refusal(400, 'This address must carry the parameters policy, keyId and signature, each once.');
    }
    const [[encoded = ''] = [], [keyId] = [], [signature = ''] = []] = values;
    if (keyId !== this.#key.keyId) return refusal(403, 'The key of this address is not known.');
    const text = Buffer.from(encoded, 'base64url').toString();
    if (Buffer.from(text).toString('base64url') !== encoded) return refusal(403, NOT_GOOD);
    if (!this.#signed(text, signature)) return refusal(403, NOT_GOOD);
    const policy = parsePolicy(text);
    if (!policy) return refusal(403, 'The policy of this address cannot be understood.');
    if (!sameResource(policy.resource, url)) return refusal(403, 'The signature is for another address.');
    return judge(policy, remoteAddress, now);
  }

  #signed(text: string, signature: string): boolean {
    if (!/^[0-9a-f]{64}$/.test(signature)) return false;
    return timingSafeEqual(Buffer.from(signature, 'hex'), this.#digest(text));
  }

  #digest(text: string): Buffer {
    return createHmac('sha256', this.#key.secret).update(text).digest();
  }
}

/** Whether an address was refused. */
export function isRefusal(result: Policy | Refusal): result is Refusal {
  return 'status' in result;
}

function judge(policy: Policy, remoteAddress: string, now: number): Policy | Refusal {
  if (now >= policy.validUntil) return refusal(410, 'This address was good for a time that is over.');
  if (policy.validFrom !== undefined && now <= policy.validFrom) {
    return refusal(403, 'This address is not good yet.');
  }
  if (policy.source !== undefined) {
    const allowed = canonicalAddress(policy.source);
    if (!allowed || allowed !== canonicalAddress(remoteAddress)) {
      return refusal(403, 'This address is good for another computer only.');
    }
  }
  return policy;
}

function refusal(status: Refusal['status'], sentence: string): Refusal {
  return { status, sentence };
}
