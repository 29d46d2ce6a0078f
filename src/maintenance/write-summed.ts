import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { beginSha256 } from '#platform/storage/thread/storage-thread.ts';

interface WriteOptions {
  signal: AbortSignal;
  /** @param bytes written; negative when the file is removed after a failure */
  onBytes: (bytes: number) => void;
}

/** Writes a file and sums it. Removes it after a failure. */
export async function writeSummed(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { signal, onBytes }: WriteOptions,
): Promise<{ size: number; sha256: string }> {
  const sum = beginSha256();
  let size = 0;
  async function* summed() {
    for await (const chunk of bytes) {
      await sum.add(chunk);
      size += chunk.length;
      onBytes(chunk.length);
      yield chunk;
    }
  }
  try {
    await pipeline(summed, createWriteStream(path, { mode: 0o600, flush: true }), { signal });
  } catch (error) {
    sum.drop();
    onBytes(-size);
    await rm(path, { force: true });
    throw error;
  }
  return { size, sha256: await sum.digest() };
}
