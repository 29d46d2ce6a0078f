import { createHmac, randomBytes } from 'node:crypto';
import type { Principal } from './principal.ts';

const MAX_ENTRIES = 10_000;

/** What is remembered of a user name and password that were right. */
export interface VerifiedCredentials {
  principal: Principal;
  /** The stored hash they were verified against. */
  passwordHash: string;
  /** `performance.now()` when the account was last read. */
  readAt: number;
}

/**
 * Remembers which credentials were right, because verifying a password costs more than most requests. Neither name nor
 * password is kept, only a digest keyed with a secret of this process. Bounded; what was used longest ago goes first.
 */
export class VerifiedCredentialsCache {
  readonly #key = randomBytes(32);
  readonly #entries = new Map<string, VerifiedCredentials>();
  readonly #max: number;

  constructor(max = MAX_ENTRIES) {
    this.#max = max;
  }

  /** A digest of the parts that nobody can compute outside this process. */
  digest(...parts: string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest('base64');
  }

  get(digest: string): VerifiedCredentials | undefined {
    const entry = this.#entries.get(digest);
    if (entry) this.set(digest, entry);
    return entry;
  }

  set(digest: string, entry: VerifiedCredentials): void {
    this.#entries.delete(digest);
    this.#entries.set(digest, entry);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > this.#max && !oldest.done) this.#entries.delete(oldest.value);
  }

  delete(digest: string): void {
    this.#entries.delete(digest);
  }
}
