import { Readable } from 'node:stream';
import { inTransaction } from '#platform/database/retry.ts';
import { detectMediaType, HEAD_BYTES } from '#platform/media/media-type.ts';
import { ObjectNotFound, type ObjectStorage, type Piece, storageRefused } from '#platform/storage/object-storage.ts';
import { uploadedBytes } from '#platform/telemetry/metrics.ts';
import type { Digest } from './digests.ts';
import { CHECKSUM_MISMATCH, type Checksum, UPLOAD_TOO_LONG } from './tus-headers.ts';
import {
  beginWriting,
  type Progress,
  receiptsOf,
  recordProgress,
  type Upload,
  type UploadParts,
} from './tus-uploads.ts';

const CHUNKS_AHEAD = 4;
/** The fraction of its lifetime after which a slow upload is extended. */
const EXTENDED_AFTER = 0.1;

interface Incoming {
  /** Absent if there are no more bytes. */
  body?: {
    read: () => Promise<Uint8Array | undefined>;
    /** The maximum size of an upload with a deferred length. */
    maxBytes: number;
  };
  /** Bytes that do not match are discarded. */
  verify?: Checksum | undefined;
  /** Stops receiving; nothing more is recorded. */
  signal: AbortSignal;
}

/** The object of the upload no longer exists. */
export class UploadGone extends Error {
  override name = 'UploadGone';
}

/**
 * Receives the next bytes of an upload, and completes it if it has all of them. Take its lock first. Bytes received
 * before an error are kept, unless they have a checksum.
 *
 * @returns the upload's new state
 * @throws the error of reading, after the bytes before it have been saved
 * @throws {HttpError} 413 for too many bytes, 460 for a wrong checksum
 * @throws {StorageRefused}
 * @throws {UploadLost} if another request writes to it, or it has expired or is complete
 * @throws {UploadGone}
 */
export async function receive(parts: UploadParts, id: string, incoming: Incoming): Promise<Upload> {
  const upload = await inTransaction(parts.database, (trx) => beginWriting(trx, id, parts.lifetimeMs));
  try {
    return await new Writing(parts, upload, incoming).run();
  } catch (error) {
    if (!(error instanceof ObjectNotFound)) throw error;
    return recordCompleted(parts, upload);
  }
}

class Writing {
  readonly #parts: UploadParts;
  readonly #incoming: Incoming;
  readonly #digest: Digest | undefined;
  #upload: Upload;
  readonly #pieces: Piece[] = [];
  #received = 0;
  #extendedAt = performance.now();
  #fault: { error: unknown } | undefined;

  constructor(parts: UploadParts, upload: Upload, incoming: Incoming) {
    this.#parts = parts;
    this.#upload = upload;
    this.#incoming = incoming;
    this.#digest = parts.digests.at(upload.id, upload.offset);
  }

  async run(): Promise<Upload> {
    const { signal, verify } = this.#incoming;
    try {
      await this.#parts.storage.append(this.#upload, this.#upload.stored, streamOf(this.#chunks()), {
        signal,
        disposable: true,
        onBytes: this.#digest && this.#addTo(this.#digest),
        onPiece: async (piece) => {
          this.#pieces.push(piece);
          if (!verify) await this.#record({ pieces: this.#pieces.splice(0) });
        },
        onRest: (rest) => this.#finish(rest),
      });
    } catch (error) {
      // The digest includes bytes that were not kept.
      this.#parts.digests.forget(this.#upload.id, this.#digest);
      throw error;
    }
    if (this.#fault) throw this.#fault.error;
    return this.#upload;
  }

  /** Skips the rest of the last request, which the digest includes already. */
  #addTo(digest: Digest): (bytes: Uint8Array) => Promise<void> | undefined {
    let seen = this.#upload.rest?.bytes ?? 0;
    return (bytes) => {
      const fresh = bytes.subarray(seen);
      seen -= bytes.length - fresh.length;
      return digest.add(fresh);
    };
  }

  /** Yields the rest of the last request, then the new bytes until reading fails. */
  async *#chunks(): AsyncGenerator<Uint8Array, void, void> {
    const { body, verify, signal } = this.#incoming;
    const { rest, offset } = this.#upload;
    try {
      if (rest) yield* await this.#parts.storage.get(rest.key, undefined, signal);
    } catch (error) {
      throwRefused(error);
    }
    if (!body) return;
    const { length = body.maxBytes } = this.#upload;
    for (;;) {
      try {
        const chunk = await body.read();
        if (!chunk) return;
        await this.#extend();
        if (offset + this.#received + chunk.length > length) throw UPLOAD_TOO_LONG();
        this.#received += chunk.length;
        uploadedBytes.inc(chunk.length);
        verify?.hash.update(chunk);
        yield chunk;
      } catch (error) {
        this.#fault = { error };
        return;
      }
    }
  }

  /** Prevents a slow upload from expiring before its next piece is durable. */
  async #extend(): Promise<void> {
    if (performance.now() - this.#extendedAt < this.#parts.lifetimeMs * EXTENDED_AFTER) return;
    this.#extendedAt = performance.now();
    // The result is ignored: a piece may be recorded concurrently.
    const { database } = this.#parts;
    await inTransaction(database, (trx) => recordProgress(trx, this.#upload, {}, this.#parts));
  }

  async #finish(rest: Uint8Array): Promise<void> {
    const { verify } = this.#incoming;
    if (verify && this.#fault) throw this.#fault.error;
    if (verify && verify.hash.digest('base64') !== verify.expected) throw CHECKSUM_MISMATCH();
    const { stored, length } = this.#upload;
    const pieces = this.#pieces.splice(0);
    if (pieces.reduce((sum, { bytes }) => sum + bytes, stored + rest.length) === length) {
      if (pieces.length > 0) await this.#record({ pieces });
      await this.#complete(rest);
    } else if (this.#received > 0 && pieces.length + rest.length > 0) await this.#keep(pieces, rest);
  }

  async #keep(pieces: readonly Piece[], rest: Uint8Array): Promise<void> {
    const { storage, staging } = this.#parts;
    const bytes = rest.length;
    if (bytes === 0) return this.#record({ pieces });
    const key = await staging.stage('rest');
    try {
      const onDoubt = () => staging.doubt(key);
      await storage.put(key, rest, { mediatype: 'application/octet-stream', expectedBytes: bytes, onDoubt });
      await this.#record({ pieces, rest: { key, bytes } });
    } catch (error) {
      await staging.discard([key]);
      throw error;
    }
  }

  async #complete(rest: Uint8Array): Promise<void> {
    const { database, storage, digests } = this.#parts;
    const { id, key } = this.#upload;
    await storage.complete(this.#upload, await receiptsOf(database, id), rest);
    const { mediatype } = await inspect(storage, key);
    await this.#record({ found: { mediatype, sha256: await this.#digest?.digest(), bytes: rest.length } });
    digests.forget(id, this.#digest);
  }

  async #record(progress: Progress): Promise<void> {
    this.#upload = await inTransaction(this.#parts.database, (trx) =>
      recordProgress(trx, this.#upload, progress, this.#parts),
    );
  }
}

/** Records the completion of an object whose process was killed before it could do so. */
async function recordCompleted(parts: UploadParts, upload: Upload): Promise<Upload> {
  const { database, storage } = parts;
  const { size, mediatype } = await inspect(storage, upload.key).catch(async (error) => {
    // An unavailable storage, such as an unmounted folder, finds no object either.
    if (error instanceof ObjectNotFound) await storage.check().catch(throwRefused);
    throw error instanceof ObjectNotFound ? new UploadGone('The object of the upload is missing.') : error;
  });
  if (size !== upload.length) throw new UploadGone('The object of the upload has another size.');
  const found = { mediatype, sha256: undefined, bytes: size - upload.stored };
  return inTransaction(database, (trx) => recordProgress(trx, upload, { found }, parts));
}

async function inspect(storage: ObjectStorage, key: string): Promise<{ size: number; mediatype: string }> {
  const head: Uint8Array[] = [];
  try {
    const size = await storage.size(key);
    const range = { start: 0, end: HEAD_BYTES - 1 };
    if (size > 0) for await (const chunk of await storage.get(key, range)) head.push(chunk);
    return { size, mediatype: detectMediaType(Buffer.concat(head)) };
  } catch (error) {
    throwRefused(error);
  }
}

function throwRefused(error: unknown): never {
  throw error instanceof ObjectNotFound ? error : storageRefused(error);
}

/** Like `Readable.from`, whose stream cannot be destroyed while it waits for a chunk. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): Readable {
  return new Readable({
    objectMode: true,
    highWaterMark: CHUNKS_AHEAD,
    read() {
      chunks.next().then(
        ({ value, done }) => this.push(done ? null : value),
        (error) => this.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
}
