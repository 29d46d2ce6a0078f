import { createHash, type Hash } from 'node:crypto';
import { sharedBytes, threadStream } from './storage-thread.ts';

/** A stream that begins with less is summed at once, which costs less than to tell another thread of it. */
const SMALL_BYTES = 64 * 1024;

/** The SHA-256 of one stream, computed beside the thread that receives it, where it would be a third of the work. */
export interface Sha256 {
  /**
   * More of the stream. Bytes in shared memory are not copied: they must stay as they are until the promise resolves.
   *
   * @returns nothing when they are not needed any more
   */
  add(bytes: Uint8Array): Promise<void> | undefined;
  /** Ends it. @returns in hexadecimal. @throws when the thread has ended */
  digest(): Promise<string>;
  /** Ends it, and nobody wants to know. */
  drop(): void;
}

/** Begins to sum a stream. */
export function beginSha256(): Sha256 {
  let sum: Sha256 | undefined;
  return {
    add(bytes) {
      sum ??= bytes.length < SMALL_BYTES ? sumHere(createHash('sha256')) : sumThere();
      return sum.add(bytes);
    },
    digest: () => (sum ?? sumHere(createHash('sha256'))).digest(),
    drop: () => sum?.drop(),
  };
}

/** The SHA-256 of bytes, in hexadecimal. Those in shared memory must stay as they are until it resolves. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const sum = beginSha256();
  // The digest comes after it, and fails as it does.
  sum.add(bytes)?.catch(() => undefined);
  return sum.digest();
}

function sumHere(hash: Hash): Sha256 {
  return {
    add: (bytes) => void hash.update(bytes),
    digest: async () => hash.digest('hex'),
    drop: () => undefined,
  };
}

function sumThere(): Sha256 {
  const ask = threadStream();
  return {
    add: async (bytes) => void (await ask({ sum: sharedBytes(bytes) })),
    digest: async () => (await ask({ end: 'sum' })) ?? '',
    drop: () => void ask({ end: 'drop' }).catch(() => undefined),
  };
}
