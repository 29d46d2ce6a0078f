import { randomBytes } from 'node:crypto';
import type { Directory, KnownAgent } from '../../accounts/directory.ts';
import { type DigestAlgorithm, type DigestSecrets, digestSecrets, REALM } from '../../accounts/secrets.ts';
import type { Principal } from '../../principal.ts';
import { FRESH_MS } from '../authenticator.ts';
import { Attempts } from '../sign-in-throttle.ts';
import { VerifiedCredentialsCache } from '../verified-credentials.ts';
import { type DigestAnswer, isRight, isTarget } from './digest-header.ts';
import type { Nonces } from './nonces.ts';

interface Parts {
  directory: Pick<Directory, 'findAgent'>;
  nonces: Nonces;
  /** The same that passwords are counted in. */
  attempts?: Attempts;
  /** Base of the URLs handed out, whose path a proxy may take off. */
  publicUrl: string;
}

/** What is asked for, and from where. */
export interface DigestRequest {
  method: string;
  url: string;
  address: string;
}

/** Why a digest is not accepted; `elsewhere` is one for another request. */
export type DigestFault = 'wrong' | 'stale' | 'elsewhere';

/**
 * Finds out which machine asks by HTTP Digest. Names of people and of nobody take as long to refuse as a wrong password.
 * It costs two hashes, and every minute a look at the account's row.
 */
export class DigestVerifier {
  readonly #parts: Parts;
  readonly #attempts: Attempts;
  readonly #prefix: string;
  readonly #now: () => number;
  /** Of nobody. */
  readonly #stranger: DigestSecrets = digestSecrets('', randomBytes(32).toString('base64'));
  readonly #read = new VerifiedCredentialsCache<KnownAgent & { readAt: number }>();
  readonly #proven = new VerifiedCredentialsCache<true>();

  /** @param now milliseconds on a clock that never goes back */
  constructor(parts: Parts, now: () => number = () => performance.now()) {
    this.#parts = parts;
    this.#attempts = parts.attempts ?? new Attempts(now);
    this.#prefix = new URL(parts.publicUrl).pathname.replace(/\/+$/, '');
    this.#now = now;
  }

  /** A challenge with a new nonce. */
  async challenge({ algorithm, stale }: { algorithm: DigestAlgorithm; stale: boolean }): Promise<string> {
    const nonce = await this.#parts.nonces.issue();
    const again = stale ? ', stale=true' : '';
    return `Digest realm="${REALM}", qop="auth", nonce="${nonce}", algorithm=${algorithm}${again}`;
  }

  /** @throws {HttpError} 429 after too many wrong passwords */
  async authenticate(answer: DigestAnswer, request: DigestRequest): Promise<Principal | DigestFault> {
    const { username, nonce, uri } = answer;
    const { method, url, address } = request;
    if (!isTarget(uri, url, this.#prefix)) return 'elsewhere';
    // A machine goes on, whoever guesses its password beside it: nobody else has answered to its nonce.
    const proof = this.#proven.digest(username, nonce, address);
    if (!this.#proven.get(proof)) this.#attempts.refuseTooMany(username, address);
    const agent = await this.#find(username, (secrets) => isRight(answer, method, secrets));
    if (!agent) {
      this.#attempts.failed(username, address);
      return 'wrong';
    }
    this.#attempts.succeeded(username, address);
    if (!(await this.#parts.nonces.isGood(nonce))) return 'stale';
    this.#proven.set(proof, true);
    return agent.principal;
  }

  /** What is wrong by an account that was read before is looked up again, since the password may be a new one. */
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
