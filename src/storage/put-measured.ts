import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ObjectStorage, PutOptions } from './port.ts';

const BUFFER_BYTES = 2 ** 20;

/** What was found of an object while its bytes were stored. */
export interface Measured {
  /** In bytes. */
  size: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
  /** Its first bytes. */
  head: Buffer;
}

/** Object storage failed in the middle of an upload; `cause` says how. */
export class StorageRefused extends Error {
  override name = 'StorageRefused';
}

/**
 * Stores what a client is sending, and measures it in the same pass.
 *
 * @param options.headBytes how much of its beginning is returned, at most
 * @param options.signal ends it; what it throws then is the signal's reason
 * @throws {StorageRefused} when the storage fails; whatever the stream itself fails with
 */
export async function putMeasured(
  storage: ObjectStorage,
  key: string,
  stream: Readable,
  { headBytes, ...options }: Omit<PutOptions, 'mediatype'> & { headBytes: number },
): Promise<Measured> {
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let size = 0;
  let kept = 0;
  const meter = new Transform({
    highWaterMark: BUFFER_BYTES,
    transform(chunk: Buffer, _encoding, callback) {
      size += chunk.length;
      if (kept < headBytes) {
        head.push(chunk.subarray(0, headBytes - kept));
        kept += chunk.length;
      }
      hash.update(chunk);
      callback(null, chunk);
    },
  });
  let told: Error | undefined;
  // Storage that fails ends the meter first, and with it the stream; a sender that fails ends the stream first.
  stream.once('error', (error) => {
    if (!meter.errored) told = error;
  });
  const stored = storage
    .put(key, meter, { mediatype: 'application/octet-stream', ...options })
    .catch((cause) => {
      if (told) throw told;
      if (options.signal?.aborted) {
        stream.destroy(options.signal.reason);
        throw options.signal.reason;
      }
      const refused = new StorageRefused('The object could not be stored.', { cause });
      stream.destroy(refused);
      throw refused;
    });
  // Both must have ended before anyone may clean up; the first to fail takes the other along.
  const outcomes = await Promise.allSettled([stored, pipeline(stream, meter)]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return { size, sha256: hash.digest('hex'), head: Buffer.concat(head) };
}
