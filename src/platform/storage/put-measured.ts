import type { Readable } from 'node:stream';
import type { ObjectStorage, PutOptions } from './object-storage.ts';
import { beginSha256 } from './thread/storage-thread.ts';

/** Stores a stream and measures its size, SHA-256 and first bytes in the same pass. @throws as `ObjectStorage.put` */
export async function putMeasured(
  storage: ObjectStorage,
  key: string,
  stream: Readable,
  {
    headBytes = 0,
    onReceived,
    ...options
  }: Omit<PutOptions, 'onBytes'> & { headBytes?: number; onReceived?: (bytes: number) => void },
) {
  const sum = beginSha256();
  const head: Uint8Array[] = [];
  let size = 0;
  let kept = 0;
  const onBytes = (bytes: Uint8Array) => {
    size += bytes.length;
    onReceived?.(size);
    if (kept < headBytes) {
      // A copy: the bytes may change after this call, and a Buffer.slice() would share them.
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
