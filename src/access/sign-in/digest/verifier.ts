import { randomBytes } from 'node:crypto';
import type { Directory, KnownAgent } from '../../accounts/directory.ts';
import { type DigestAlgorithm, type DigestSecrets, digestSecrets, REALM } from '../../accounts/secrets.ts';
import type { Principal } from '../../principal.ts';
import { FRESH_MS } from '../authenticator.ts';
import { Attempts } from '../sign-in-throttle.ts';
import { VerifiedCredentialsCache } from '../verified-credentials.ts';
import { type DigestAnswer, isValidResponse, matchesTarget } from './digest-header.ts';
import type { Nonces } from './nonces.ts';

interface Parts {
  directory: Pick<Directory, 'findAgent'>;
  nonces: Nonces;
  /** The failure counters shared with passwords. */
  attempts?: Attempts;
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
  readonly #attempts: Attempts;
  readonly #prefix: string;
  readonly #now: () => number;
  /** Secrets that match no account. */
  readonly #stranger: DigestSecrets = digestSecrets('', randomBytes(32).toString('base64'));
  readonly #read = new VerifiedCredentialsCache<KnownAgent & { readAt: number }>();
  readonly #proven = new VerifiedCredentialsCache<true>();

  /** @param now a monotonic clock in milliseconds */
  constructor(parts: Parts, now: () => number = () => performance.now()) {
    this.#parts = parts;
    this.#attempts = parts.attempts ?? new Attempts(now);
    this.#prefix = new URL(parts.publicUrl).pathname.replace(/\/+$/, '');
    this.#now = now;
  }

  /** Returns a challenge with a new nonce. */
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
