import { isObjectKey } from '../storage/keys.ts';
import { ObjectNotFound, type ObjectStorage } from '../storage/port.ts';
import { beginSha256 } from '../storage/sha256/sha256.ts';

/** In place of the digest of an object that is there and that the disk, or the rights to it, do not let anybody read. */
export const UNREADABLE = 'unreadable';
const FAULTS: readonly unknown[] = ['EIO', 'EACCES', 'EPERM'];

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
  storage: Pick<ObjectStorage, 'get'>,
  key: string,
  signal?: AbortSignal,
  onBytes?: (bytes: number) => void,
): Promise<string | undefined> {
  if (!isObjectKey(key)) return undefined;
  try {
    return await sumOf(await storage.get(key, undefined, signal), onBytes);
  } catch (error) {
    if (error instanceof ObjectNotFound) return undefined;
    if (isUnreadable(error)) return UNREADABLE;
    throw error;
  }
}
