import { setTimeout as sleep } from 'node:timers/promises';
import { isObjectKey } from '#platform/storage/object-keys.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/object-storage.ts';
import { beginSha256 } from '#platform/storage/thread/storage-thread.ts';

/** The result for an object that exists but that the storage cannot read. */
export const UNREADABLE = 'unreadable';
const FAULTS: readonly unknown[] = ['EIO', 'EACCES', 'EPERM'];
/** Pauses before each retry. */
const PAUSES_MS = [1_000, 4_000];

/** The part of a storage that reads objects. */
export type ObjectReader = Pick<ObjectStorage, 'get' | 'check'>;

/** Returns true for a fault of one file, as opposed to the whole storage. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FAULTS.includes(error.code);
}

/** Returns the SHA-256 of a stream in hexadecimal. @param onBytes called with the size of each chunk */
export async function digestOfStream(
  stream: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<string> {
  const sum = beginSha256();
  try {
    for await (const chunk of stream) {
      await sum.add(chunk);
      onBytes(chunk.length);
    }
  } catch (error) {
    sum.drop();
    throw error;
  }
  return sum.digest();
}

/** Returns the SHA-256 of an object in hexadecimal, `UNREADABLE`, or undefined when the object is missing. */
export async function digestOf(
  storage: ObjectReader,
  key: string,
  signal?: AbortSignal,
  onBytes?: (bytes: number) => void,
): Promise<string | undefined> {
  return readObject(storage, key, (bytes) => digestOfStream(bytes, onBytes), signal);
}

/**
 * Reads a whole object, and again if the storage breaks off: a reset connection is no damage, and an object that a
 * working storage cannot read must not end the run.
 * @param read reads the bytes; called again for each retry
 * @returns the result of `read`; undefined when the object is missing
 * @throws the faults of `read` itself, and the storage's fault while the storage does not work
 */
export async function readObject<T>(
  storage: ObjectReader,
  key: string,
  read: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
  signal?: AbortSignal,
): Promise<T | typeof UNREADABLE | undefined> {
  if (!isObjectKey(key)) return undefined;
  const faults: unknown[] = [];
  async function* bytes() {
    try {
      yield* await storage.get(key, undefined, signal);
    } catch (error) {
      faults.push(error);
      throw error;
    }
  }
  for (let tries = 0; tries <= PAUSES_MS.length; tries += 1) {
    if (tries > 0) await sleep(PAUSES_MS[tries - 1], undefined, { signal });
    const before = faults.length;
    try {
      return await read(bytes());
    } catch (error) {
      if (faults.length === before || signal?.aborted) throw error;
    }
    if (faults.at(-1) instanceof ObjectNotFound) return undefined;
    if (isUnreadable(faults.at(-1))) return UNREADABLE;
  }
  await storage.check(signal).catch(() => {
    throw faults.at(-1);
  });
  return UNREADABLE;
}

/** Returns the size of an object in bytes; undefined when it is missing or its key is invalid. */
export async function sizeOf(storage: Pick<ObjectStorage, 'size'>, key: string): Promise<number | undefined> {
  if (!isObjectKey(key)) return undefined;
  return storage.size(key).catch((error) => {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  });
}
