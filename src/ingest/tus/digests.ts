import { beginSha256, type Sha256 } from '#platform/storage/thread/storage-thread.ts';

/** The maximum number of digests; the least recently used one is dropped. */
const MOST = 10_000;

export class Digest {
  readonly #sum: Sha256 = beginSha256();
  #dropped = false;
  bytes = 0;

  /** Adds bytes. @returns undefined if it was dropped */
  add(more: Uint8Array): Promise<void> | undefined {
    if (this.#dropped) return undefined;
    this.bytes += more.length;
    return this.#sum.add(more);
  }

  /** Returns hexadecimal digits; undefined if it was dropped. */
  async digest(): Promise<string | undefined> {
    return this.#dropped ? undefined : this.#sum.digest();
  }

  /** Drops it, even while bytes are being added. */
  drop(): void {
    if (!this.#dropped) this.#sum.drop();
    this.#dropped = true;
  }
}

/**
 * SHA-256 digests of uploads that this process receives. A digest cannot move to another process: if several processes
 * receive an upload, its digest is unknown until the whole object is read.
 */
export class UploadDigests {
  readonly #digests = new Map<string, Digest>();

  /** Returns the digest of the first `bytes` of an upload, to which the next bytes are added; undefined if unknown. */
  at(id: string, bytes: number): Digest | undefined {
    let digest = this.#digests.get(id);
    if (bytes === 0 || digest?.bytes !== bytes) {
      this.forget(id);
      if (bytes > 0) return undefined;
      digest = new Digest();
    }
    // The map is ordered by last use.
    this.#digests.delete(id);
    this.#digests.set(id, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > MOST && oldest !== undefined) this.forget(oldest);
    return digest;
  }

  /** Drops a digest. @param only the digest to drop; one that has replaced it is kept */
  forget(id: string, only = this.#digests.get(id)): void {
    only?.drop();
    if (this.#digests.get(id) === only) this.#digests.delete(id);
  }
}
