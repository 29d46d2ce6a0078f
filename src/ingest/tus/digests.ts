import { beginSha256, type Sha256 } from '#platform/storage/thread/sha256.ts';

/** As many as may be under way; of one more, the oldest is given up. */
const MOST = 10_000;

/** The digest of what comes of an upload. */
export class Digest {
  readonly #sum: Sha256 = beginSha256();
  #bytes = 0;
  #dropped = false;

  /** How many bytes it has seen. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns nothing when the bytes are not needed any more */
  add(more: Uint8Array): Promise<void> | undefined {
    if (this.#dropped) return undefined;
    this.#bytes += more.length;
    return this.#sum.add(more);
  }

  /** @returns in hexadecimal; undefined when it has been given up, and has not seen all */
  async digest(): Promise<string | undefined> {
    return this.#dropped ? undefined : this.#sum.digest();
  }

  /** Gives it up, whoever may still add to it. */
  drop(): void {
    if (!this.#dropped) this.#sum.drop();
    this.#dropped = true;
  }
}

/**
 * SHA-256 of uploads whose every byte has come to this process. A digest cannot be handed on to another one: of an upload
 * that several have received, nobody knows it before somebody reads the whole object.
 */
export class Digests {
  readonly #digests = new Map<string, Digest>();

  /** The digest of an upload of which `bytes` have come, to be kept up with what comes; undefined when it is not known. */
  at(id: string, bytes: number): Digest | undefined {
    const known = this.#digests.get(id);
    const digest = bytes === 0 ? new Digest() : known;
    this.#digests.delete(id);
    if (known && known !== digest) known.drop();
    if (digest?.bytes !== bytes) {
      digest?.drop();
      return undefined;
    }
    this.#digests.set(id, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > MOST && oldest !== undefined) this.forget(oldest);
    return digest;
  }

  /**
   * Nothing more will come of it.
   *
   * @param only leaves another one alone that has come in its place
   */
  forget(id: string, only = this.#digests.get(id)): void {
    only?.drop();
    if (this.#digests.get(id) === only) this.#digests.delete(id);
  }
}
