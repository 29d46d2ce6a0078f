import { createHash, type Hash } from 'node:crypto';

/** As many as may be under way; of one more, the oldest is given up. */
const MOST = 10_000;

/** The digest of what has come of an upload so far. */
interface Digest {
  hash: Hash;
  /** How many bytes it has seen. */
  bytes: number;
}

/**
 * SHA-256 of uploads whose every byte has come to this process. A digest cannot be handed on to another one: of an upload
 * that several have received, nobody knows it before somebody reads the whole object.
 */
export class Digests {
  readonly #digests = new Map<string, Digest>();

  /** The digest of an upload of which `bytes` have come, to be kept up with what comes; undefined when it is not known. */
  at(id: string, bytes: number): { update(chunk: Uint8Array): void; hex(): string } | undefined {
    const known = this.#digests.get(id);
    this.#digests.delete(id);
    const digest = bytes === 0 ? { hash: createHash('sha256'), bytes: 0 } : known;
    if (digest?.bytes !== bytes) return undefined;
    this.#digests.set(id, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > MOST && oldest !== undefined) this.#digests.delete(oldest);
    return {
      update: (chunk) => {
        digest.hash.update(chunk);
        digest.bytes += chunk.length;
      },
      hex: () => digest.hash.copy().digest('hex'),
    };
  }

  /** Nothing more will come of it. */
  forget(id: string): void {
    this.#digests.delete(id);
  }
}
