import { beginSha256, type Sha256 } from '#platform/storage/thread/sha256.ts';

/** As many as may be in use; of one more, the oldest is dropped. */
const MOST = 10_000;

/** The digest of what comes of an upload. */
export class Digest {
  readonly #sum: Sha256 = beginSha256();
  #dropped = false;
  /** How many bytes it has seen. */
  bytes = 0;

  /** Adds bytes. @returns nothing when they are not needed any more */
  add(more: Uint8Array): Promise<void> | undefined {
    if (this.#dropped) return undefined;
    this.bytes += more.length;
    return this.#sum.add(more);
  }

  /** Ends it. @returns hexadecimal digits; undefined when it was dropped, and has not seen all */
  async digest(): Promise<string | undefined> {
    return this.#dropped ? undefined : this.#sum.digest();
  }

  /** Drops it, also while bytes are added. */
  drop(): void {
    if (!this.#dropped) this.#sum.drop();
    this.#dropped = true;
  }
}

/**
 * SHA-256 of uploads whose every byte has come to this process. A digest cannot be handed to another process: the one of an
 * upload that several have received is unknown until the whole object is read.
 */
export class Digests {
  readonly #digests = new Map<string, Digest>();

  /** The digest of an upload of which `bytes` have come, to be fed with what comes; undefined when it is unknown. */
  at(id: string, bytes: number): Digest | undefined {
    let digest = this.#digests.get(id);
    if (bytes === 0 || digest?.bytes !== bytes) {
      this.forget(id);
      if (bytes > 0) return undefined;
      digest = new Digest();
    }
    // The map keeps the order in which they were used.
    this.#digests.delete(id);
    this.#digests.set(id, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > MOST && oldest !== undefined) this.forget(oldest);
    return digest;
  }

  /** Drops a digest. @param only leaves another one alone that has come in its place */
  forget(id: string, only = this.#digests.get(id)): void {
    only?.drop();
    if (this.#digests.get(id) === only) this.#digests.delete(id);
  }
}
