import { createHash, type Hash } from 'node:crypto';
import { sharedBytes, threadStream } from './storage-thread.ts';

/** A stream that begins with less is hashed in this thread, which is cheaper than a message to another one. */
const SMALL_BYTES = 64 * 1024;

/** The SHA-256 of one stream, computed in another thread: it would take the receiving thread a third of its time. */
export interface Sha256 {
  /** Adds bytes, which must not change until the promise resolves; undefined when they are not needed. */
  add(bytes: Uint8Array): Promise<void> | undefined;
  /** Ends the stream. @returns the hash in hexadecimal. @throws when the thread has exited */
  digest(): Promise<string>;
  /** Ends the stream without a result. */
  drop(): void;
}

export function beginSha256(): Sha256 {
  let sum: Sha256 | undefined;
  return {
    add(bytes) {
      sum ??= bytes.length < SMALL_BYTES ? hashHere(createHash('sha256')) : hashInThread();
      return sum.add(bytes);
    },
    digest: () => (sum ?? hashHere(createHash('sha256'))).digest(),
    drop: () => sum?.drop(),
  };
}

/** Returns the SHA-256 of bytes in hexadecimal. Bytes in shared memory must not change until it resolves. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const sum = beginSha256();
  // The digest follows it, and fails with the same error.
  sum.add(bytes)?.catch(() => undefined);
  return sum.digest();
}

function hashHere(hash: Hash): Sha256 {
  return {
    add: (bytes) => void hash.update(bytes),
    digest: async () => hash.digest('hex'),
    drop: () => undefined,
  };
}

function hashInThread(): Sha256 {
  const ask = threadStream();
  return {
    add: async (bytes) => void (await ask({ sum: sharedBytes(bytes) })),
    digest: async () => (await ask({ end: 'sum' })) ?? '',
    drop: () => void ask({ end: 'drop' }).catch(() => undefined),
  };
}
