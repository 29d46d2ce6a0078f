import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ObjectStorage, PutOptions } from './port.ts';

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
 * @param options.headBytes how much of its beginning is returned, at most; nothing unless given
 * @throws as `ObjectStorage.put`
 */
export async function putMeasured(
  storage: ObjectStorage,
  key: string,
  stream: Readable,
  { headBytes = 0, ...options }: Omit<PutOptions, 'onChunk'> & { headBytes?: number },
): Promise<Measured> {
  const hash = createHash('sha256');
  const head: Uint8Array[] = [];
  let size = 0;
  let kept = 0;
  const onChunk = (chunk: Uint8Array) => {
    size += chunk.length;
    hash.update(chunk);
    if (kept >= headBytes) return;
    // A copy: the chunk may not outlive this call, and a Buffer.slice() would be none.
    head.push(Uint8Array.from(chunk.subarray(0, headBytes - kept)));
    kept += chunk.length;
  };
  await storage.put(key, stream, { ...options, onChunk });
  return { size, sha256: hash.digest('hex'), head: Buffer.concat(head) };
}
