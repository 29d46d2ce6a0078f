import type { Readable } from 'node:stream';
import type { ObjectStorage, PutOptions } from './port.ts';
import { beginSha256 } from './thread/sha256.ts';

/** What was found of an object while its bytes were stored. */
export interface Measured {
  /** In bytes. */
  size: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
  /** Its first bytes. */
  head: Buffer;
}

/**
 * Stores a stream, and measures it in the same pass.
 *
 * @param options.onReceived told how many bytes have come, as they come
 * @param options.headBytes how much of its beginning is returned, at most; nothing unless given
 * @throws as `ObjectStorage.put`
 */
export async function putMeasured(
  storage: ObjectStorage,
  key: string,
  stream: Readable,
  {
    headBytes = 0,
    onReceived,
    ...options
  }: Omit<PutOptions, 'onBytes'> & { headBytes?: number; onReceived?: (bytes: number) => void },
): Promise<Measured> {
  const sum = beginSha256();
  const head: Uint8Array[] = [];
  let size = 0;
  let kept = 0;
  const onBytes = (bytes: Uint8Array) => {
    size += bytes.length;
    onReceived?.(size);
    if (kept < headBytes) {
      // A copy: they may not outlive this call, and a Buffer.slice() would be none.
      head.push(Uint8Array.from(bytes.subarray(0, headBytes - kept)));
      kept += bytes.length;
    }
    return sum.add(bytes);
  };
  try {
    await storage.put(key, stream, { ...options, onBytes });
  } catch (error) {
    sum.drop();
    throw error;
  }
  return { size, sha256: await sum.digest(), head: Buffer.concat(head) };
}
