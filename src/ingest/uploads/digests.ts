import { beginSha256, type Sha256 } from '../../storage/sha256/sha256.ts';

/** As many as may be under way; of one more, the oldest is given up. */
const MOST = 10_000;

/** The digest of what has come of an upload so far. */
interface Digest {
  sum: Sha256;
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
  at(id: string, bytes: number): Pick<Sha256, 'add' | 'digest'> | undefined {
    const known = this.#digests.get(id);
    const digest = bytes === 0 ? { sum: beginSha256(), bytes: 0 } : known;
    this.#digests.delete(id);
    if (known && known !== digest) known.sum.drop();
    if (digest?.bytes !== bytes) {
      digest?.sum.drop();
      return undefined;
    }
    this.#digests.set(id, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > MOST && oldest !== undefined) this.forget(oldest);
    return {
      add: (more) => {
        digest.bytes += more.length;
        return digest.sum.add(more);
      },
      digest: () => digest.sum.digest(),
    };
  }

  /** Nothing more will come of it. */
  forget(id: string): void {
    this.#digests.get(id)?.sum.drop();
    this.#digests.delete(id);
  }
}
