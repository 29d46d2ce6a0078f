import { Readable } from 'node:stream';
import { inTransaction } from '#platform/database/retry.ts';
import { ObjectNotFound, type Piece, type PutOptions } from '#platform/storage/port.ts';
import { uploadedBytes } from '#platform/telemetry/metrics.ts';
import type { Digest } from './digests.ts';
import { completedBefore, inspectHead, ofStorage, type UploadParts } from './object.ts';
import { extendUpload, noteProgress, type Progress, receiptsOf } from './progress.ts';
import type { Upload } from './uploads.ts';

const CHUNKS_AHEAD = 4;
/** By which part of its lifetime that is over an upload is extended of which bytes come. */
const EXTENDED_AFTER = 0.1;

/** More bytes of an upload as they come. */
export interface Incoming {
  /** The next chunk, undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Whether what has come is what was meant, asked at the end; nothing is kept unless it is. */
  verify: { update(chunk: Uint8Array): void; check(): void } | undefined;
  /** How long the upload may be while nobody has said how long it is. */
  maxBytes: number;
  /** Ends it; nothing more is noted. */
  signal: AbortSignal;
}

/** More came than was declared. */
export class TooMuch extends Error {
  override name = 'TooMuch';
}

/**
 * Receives more of an upload. Whatever ends it, what has come until then is kept and counts, unless it was to be verified.
 *
 * @param upload as `beginWriting` gave it
 * @returns the upload as it is then
 * @throws what reading failed with, after what came before has been kept
 * @throws {StorageRefused}
 * @throws {UploadLost} when somebody else writes to it
 * @throws {UploadGone}
 */
export async function receive(parts: UploadParts, upload: Upload, incoming: Incoming): Promise<Upload> {
  const writing = new Writing(parts, upload, incoming);
  try {
    return await writing.run();
  } catch (error) {
    if (!(error instanceof ObjectNotFound)) throw error;
    return completedBefore(parts, upload);
  }
}

/** One run of `receive`. */
class Writing {
  readonly #parts: UploadParts;
  readonly #incoming: Incoming;
  readonly #digest: Digest | undefined;
  /** As last noted. */
  #upload: Upload;
  /** Durable, and not yet noted. */
  readonly #unnoted: Piece[] = [];
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
    const { storage, digests } = this.#parts;
    const { signal, verify } = this.#incoming;
    const body = streamOf(this.#chunks());
    try {
      await storage.append(this.#upload, this.#upload.stored, body, {
        signal,
        disposable: true,
        onBytes: this.#sum(),
        onPiece: async (piece) => {
          this.#unnoted.push(piece);
          if (!verify) await this.#note({ pieces: this.#unnoted.splice(0) });
        },
        onRest: (rest) => this.#finish(rest),
      });
    } catch (error) {
      // It has seen bytes that do not count, and others may come in their place.
      digests.forget(this.#upload.id, this.#digest);
      throw error;
    }
    if (this.#fault) throw this.#fault.error;
    return this.#upload;
  }

  /** Sums what comes; the rest of before has been summed. */
  #sum(): PutOptions['onBytes'] {
    const digest = this.#digest;
    let before = this.#upload.rest?.bytes ?? 0;
    return (
      digest &&
      ((bytes) => {
        const fresh = bytes.subarray(before);
        before -= bytes.length - fresh.length;
        return digest.add(fresh);
      })
    );
  }

  /** What was left over before, and what comes; a fault is kept for later. */
  async *#chunks(): AsyncGenerator<Uint8Array, void, void> {
    const { read, verify, maxBytes } = this.#incoming;
    const { rest, length = maxBytes, offset } = this.#upload;
    if (rest) yield* this.#before(rest.key);
    for (;;) {
      try {
        const chunk = await read();
        if (!chunk) return;
        await this.#extend();
        if (offset + this.#received + chunk.length > length)
          throw new TooMuch('More came than was declared.');
        this.#received += chunk.length;
        uploadedBytes.inc(chunk.length);
        verify?.update(chunk);
        yield chunk;
      } catch (error) {
        this.#fault = { error };
        return;
      }
    }
  }

  async *#before(key: string): AsyncGenerator<Uint8Array, void, void> {
    const { signal } = this.#incoming;
    try {
      yield* await this.#parts.storage.get(key, undefined, signal);
    } catch (error) {
      throw ofStorage(error);
    }
  }

  /** On a slow line it takes its time until something of what comes is durable. */
  async #extend(): Promise<void> {
    const { database, lifetimeMs } = this.#parts;
    if (performance.now() - this.#extendedAt < lifetimeMs * EXTENDED_AFTER) return;
    this.#extendedAt = performance.now();
    await inTransaction(database, (trx) => extendUpload(trx, this.#upload, lifetimeMs));
  }

  async #finish(rest: Uint8Array): Promise<void> {
    const { verify } = this.#incoming;
    if (verify) {
      if (this.#fault) throw this.#fault.error;
      verify.check();
    }
    const { stored, length } = this.#upload;
    const pieces = this.#unnoted.splice(0);
    const whole = pieces.reduce((sum, { bytes }) => sum + bytes, stored) + rest.length;
    if (whole === length) {
      if (pieces.length > 0) await this.#note({ pieces });
      await this.#complete(rest);
    } else if (this.#received > 0 && pieces.length + rest.length > 0) await this.#keep(pieces, rest);
  }

  async #keep(pieces: readonly Piece[], rest: Uint8Array): Promise<void> {
    const { storage, staging } = this.#parts;
    if (rest.length === 0) return this.#note({ pieces });
    const key = await staging.stage('rest');
    try {
      await storage.put(key, rest, {
        mediatype: 'application/octet-stream',
        expectedBytes: rest.length,
        onDoubt: () => staging.doubt(key),
      });
      await this.#note({ pieces, rest: { key, bytes: rest.length } });
    } catch (error) {
      await staging.discard([key]);
      throw error;
    }
  }

  async #complete(rest: Uint8Array): Promise<void> {
    const { database, storage, digests } = this.#parts;
    await storage.complete(this.#upload, await receiptsOf(database, this.#upload.id), rest);
    const found = { ...(await inspectHead(storage, this.#upload.key)), bytes: rest.length };
    await this.#note({ found: { ...found, sha256: await this.#digest?.digest() } });
    digests.forget(this.#upload.id, this.#digest);
  }

  async #note(progress: Progress): Promise<void> {
    this.#upload = await inTransaction(this.#parts.database, (trx) =>
      noteProgress(trx, this.#upload, progress, this.#parts),
    );
  }
}

/** As `Readable.from`, which does not end before the chunk has come that it waits for. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): Readable {
  return new Readable({
    objectMode: true,
    highWaterMark: CHUNKS_AHEAD,
    async read() {
      try {
        const { value, done } = await chunks.next();
        this.push(done ? null : value);
      } catch (error) {
        this.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}
