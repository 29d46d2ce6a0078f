import { setTimeout as sleep } from 'node:timers/promises';
import { isObjectKey } from '#platform/storage/keys.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/port.ts';
import { beginSha256 } from '#platform/storage/thread/sha256.ts';

/** In place of what was to be read of an object that is there and that the storage does not give anybody. */
export const UNREADABLE = 'unreadable';
const FAULTS: readonly unknown[] = ['EIO', 'EACCES', 'EPERM'];
/** Before each further try to read an object. */
const PAUSES_MS = [1_000, 4_000];

/** What reads objects. */
export type Reading = Pick<ObjectStorage, 'get' | 'check'>;

/** Whether a fault is one file's, and says nothing of the others. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FAULTS.includes(error.code);
}

/** The SHA-256 of a stream, in hexadecimal. @param onBytes is told how many more have been read */
export async function sumOf(
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

/** @returns the SHA-256 of an object in hexadecimal, or `UNREADABLE`; undefined when it is not there */
export async function digestOf(
  storage: Reading,
  key: string,
  signal?: AbortSignal,
  onBytes?: (bytes: number) => void,
): Promise<string | undefined> {
  return readObject(storage, key, (bytes) => sumOf(bytes, onBytes), signal);
}

/**
 * Reads an object from its beginning to its end, and once more where the storage breaks off: a line that is reset in hours
 * of reading is no damage, and an object that a storage which works does not give ends nothing else.
 *
 * @param read does so, each time anew
 * @returns what that does; undefined when the object is not there
 * @throws what `read` failed with by itself, and the storage's fault while it does not work
 */
export async function readObject<T>(
  storage: Reading,
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
