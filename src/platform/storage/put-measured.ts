import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ObjectStorage, PutOptions } from './object-storage.ts';
import { beginSha256, sha256OfFile } from './thread/storage-thread.ts';

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

const READ_BYTES = 2 ** 20;

/** Stores a file, which must not change afterwards, and measures it. @throws as `ObjectStorage.put`, or reading the file */
export async function putFile(
  storage: ObjectStorage,
  key: string,
  path: string,
  options: Omit<PutOptions, 'onBytes'>,
): Promise<{ size: number; sha256: string }> {
  const { signal } = options;
  // The disk writes while the file is hashed.
  const unneeded = new AbortController();
  const measuring = measureFile(path, AbortSignal.any([unneeded.signal, ...(signal ? [signal] : [])]));
  measuring.catch(() => undefined);
  try {
    if (await storage.link(key, path)) return await measuring;
  } finally {
    unneeded.abort();
  }
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  const { size, sha256 } = await putMeasured(storage, key, file, options);
  return { size, sha256 };
}

/** Returns the size of a file, which must not change, and its SHA-256 in hexadecimal. */
export async function measureFile(path: string, signal?: AbortSignal): Promise<{ size: number; sha256: string }> {
  const { size } = await stat(path);
  return { size, sha256: await sha256OfFile(path, size, signal) };
}
