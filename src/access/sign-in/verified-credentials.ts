import { createHash, randomBytes } from 'node:crypto';

const MAX_ENTRIES = 10_000;

/** Caches verified credentials by a keyed digest, never in clear. Bounded: the least recently used goes first. */
export class VerifiedCredentialsCache<Entry> {
  readonly #key = randomBytes(32);
  readonly #entries = new Map<string, Entry>();
  readonly #max: number;

  constructor(max = MAX_ENTRIES) {
    this.#max = max;
  }

  /** Returns a digest that cannot be computed outside this process. */
  digest(...parts: string[]): string {
    // No digest leaves the process, so a key in front is enough. An HMAC would take a tenth of the time of a request.
    return createHash('sha256').update(this.#key).update(JSON.stringify(parts)).digest('base64');
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
