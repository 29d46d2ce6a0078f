import { createHmac, randomBytes } from 'node:crypto';

const MAX_ENTRIES = 10_000;

/**
 * Remembers which credentials were right, because verifying a password or a signature costs more than most requests.
 * No name, password or token is kept, only a digest keyed with a secret of this process. Bounded; what was used longest
 * ago goes first.
 */
export class VerifiedCredentialsCache<Entry> {
  readonly #key = randomBytes(32);
  readonly #entries = new Map<string, Entry>();
  readonly #max: number;

  constructor(max = MAX_ENTRIES) {
    this.#max = max;
  }

  /** A digest of the parts that nobody can compute outside this process. */
  digest(...parts: string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest('base64');
  }

  get(digest: string): Entry | undefined {
    const entry = this.#entries.get(digest);
    if (entry) this.set(digest, entry);
    return entry;
  }

  set(digest: string, entry: Entry): void {
    this.#entries.delete(digest);
    this.#entries.set(digest, entry);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > this.#max && !oldest.done) this.#entries.delete(oldest.value);
  }

  delete(digest: string): void {
    this.#entries.delete(digest);
  }
}
