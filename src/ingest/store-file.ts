import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { badRequest } from '../http/errors.ts';
import type { FilePart } from '../http/multipart.ts';
import { HEAD_BYTES } from '../media/signature.ts';
import type { ObjectStorage } from '../storage/port.ts';

const FILENAME_LENGTH = 255;
const BUFFER_BYTES = 2 ** 20;

/** A file that is stored, and not yet part of an event. */
export interface StoredFile {
  filename: string;
  mediatype: string;
  objectKey: string;
  /** In bytes. */
  size: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}

/** Tells a media type by the first bytes of a file. */
export type DetectMediaType = (head: Uint8Array) => string;

/** Object storage failed in the middle of an upload; `cause` says how. */
export class StorageRefused extends Error {
  override name = 'StorageRefused';
}

/**
 * Streams a file of a form into storage while its size, SHA-256 and media type are found in the same pass.
 *
 * @param options.expectedBytes an upper bound of its size
 * @throws {HttpError} 400 for an empty file
 * @throws {StorageRefused}
 */
export async function storeFile(
  part: FilePart,
  options: { objectKey: string; expectedBytes: number; storage: ObjectStorage; detect: DetectMediaType },
): Promise<StoredFile> {
  const { objectKey, expectedBytes, storage, detect } = options;
  const filename = safeFilename(part.filename);
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let size = 0;
  let headBytes = 0;
  const meter = new Transform({
    highWaterMark: BUFFER_BYTES,
    transform(chunk: Buffer, _encoding, callback) {
      size += chunk.length;
      if (headBytes < HEAD_BYTES) {
        head.push(chunk.subarray(0, HEAD_BYTES - headBytes));
        headBytes += chunk.length;
      }
      hash.update(chunk);
      callback(null, chunk);
    },
  });
  let told: Error | undefined;
  // Storage that fails ends the meter first, and with it the part; a form that fails ends the part first.
  part.stream.once('error', (error) => {
    if (!meter.errored) told = error;
  });
  const stored = storage
    .put(objectKey, meter, { mediatype: 'application/octet-stream', expectedBytes })
    .catch((cause) => {
      if (told) throw told;
      const refused = new StorageRefused('The recording could not be stored.', { cause });
      part.stream.destroy(refused);
      throw refused;
    });
  // Both must have ended before anyone may clean up; the first to fail takes the other along.
  const outcomes = await Promise.allSettled([stored, pipeline(part.stream, meter)]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  if (size === 0) throw badRequest(`The file '${filename}' in the part '${part.field}' is empty.`);
  return { filename, mediatype: detect(Buffer.concat(head)), objectKey, size, sha256: hash.digest('hex') };
}

/** What is kept of a client's file name: shown to people, never used as a path. */
export function safeFilename(name: string): string {
  return (
    name
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
      .replace(/[\u0000-\u001f\u007f]/g, '')
      .slice(0, FILENAME_LENGTH)
  );
}
