import { Readable } from 'node:stream';
import { inTransaction } from '#platform/database/retry.ts';
import { detectMediaType, HEAD_BYTES } from '#platform/media/signature.ts';
import { ObjectNotFound, type ObjectStorage, type Piece, refused } from '#platform/storage/port.ts';
import { uploadedBytes } from '#platform/telemetry/metrics.ts';
import type { Digest } from './digests.ts';
import { type Progress, receiptsOf, recordProgress } from './progress.ts';
import type { Checksum } from './tus-headers.ts';
import { CHECKSUM_MISMATCH, UPLOAD_TOO_LONG } from './tus-refusals.ts';
import type { Upload, UploadParts } from './uploads.ts';

const CHUNKS_AHEAD = 4;
/** While bytes come that are not durable yet, an upload is extended after this part of its lifetime. */
const EXTENDED_AFTER = 0.1;

/** More bytes of an upload as they come. */
export interface Incoming {
  /** The next chunk, undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Nothing is kept of bytes that do not match it. */
  verify: Checksum | undefined;
  /** How long the upload may be while its length is deferred. */
  maxBytes: number;
  /** Ends it; nothing more is recorded. */
  signal: AbortSignal;
}

/** The object of the upload does not exist any more. */
export class UploadGone extends Error {
  override name = 'UploadGone';
}

/**
 * Receives more of an upload. What has come before an error is kept and counts, unless it was to be verified.
 *
 * @param upload as `beginWriting` returned it
 * @returns the upload as it is then
 * @throws what reading failed with, after what came before has been kept
 * @throws {HttpError} 413 for more than the upload may have, 460 for a checksum that does not match
 * @throws {StorageRefused}
 * @throws {UploadLost} when another request writes to it
 * @throws {UploadGone}
 */
export async function receive(parts: UploadParts, upload: Upload, incoming: Incoming): Promise<Upload> {
  try {
    return await new Writing(parts, upload, incoming).run();
  } catch (error) {
    if (!(error instanceof ObjectNotFound)) throw error;
    return recordCompleted(parts, upload);
  }
}

/** One run of `receive`. */
class Writing {
  readonly #parts: UploadParts;
  readonly #incoming: Incoming;
  readonly #digest: Digest | undefined;
  /** As last recorded. */
  #upload: Upload;
  /** Durable, and not yet recorded. */
  readonly #pieces: Piece[] = [];
  #received = 0;
  #extendedAt = performance.now();
  /** What reading failed with. */
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
      // It has seen bytes that do not count, and others may come in their place.
      this.#parts.digests.forget(this.#upload.id, this.#digest);
      throw error;
    }
    if (this.#fault) throw this.#fault.error;
    return this.#upload;
  }

  /** The rest of before, which the digest has seen, is left out. */
  #addTo(digest: Digest): (bytes: Uint8Array) => Promise<void> | undefined {
    let seen = this.#upload.rest?.bytes ?? 0;
    return (bytes) => {
      const fresh = bytes.subarray(seen);
      seen -= bytes.length - fresh.length;
      return digest.add(fresh);
    };
  }

  /** Yields the rest of before, and what comes until reading fails. */
  async *#chunks(): AsyncGenerator<Uint8Array, void, void> {
    const { read, verify, maxBytes, signal } = this.#incoming;
    const { rest, length = maxBytes, offset } = this.#upload;
    try {
      if (rest) yield* await this.#parts.storage.get(rest.key, undefined, signal);
    } catch (error) {
      throwRefused(error);
    }
    for (;;) {
      try {
        const chunk = await read();
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

  /** Keeps an upload that comes slowly from expiring before a piece is durable. */
  async #extend(): Promise<void> {
    if (performance.now() - this.#extendedAt < this.#parts.lifetimeMs * EXTENDED_AFTER) return;
    this.#extendedAt = performance.now();
    // A piece may be recorded concurrently, whose result counts.
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

/** Records that an object is complete: the process that completed it was killed before it could. */
async function recordCompleted(parts: UploadParts, upload: Upload): Promise<Upload> {
  const { database, storage } = parts;
  const { size, mediatype } = await inspect(storage, upload.key).catch(async (error) => {
    // A storage that is away, such as a folder that is not mounted, has no object either.
    if (error instanceof ObjectNotFound) await storage.check().catch(throwRefused);
    throw error instanceof ObjectNotFound ? new UploadGone('The object is gone.') : error;
  });
  if (size !== upload.length) throw new UploadGone('The object is another one.');
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

/** Throws what reading from the storage failed with as the storage's refusal. */
function throwRefused(error: unknown): never {
  throw error instanceof ObjectNotFound ? error : refused(error);
}

/** Makes a stream; that of `Readable.from` does not end before the chunk has come that it waits for. */
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
