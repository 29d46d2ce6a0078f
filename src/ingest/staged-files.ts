import type { Readable } from 'node:stream';
import { refusal } from '#platform/http/errors/errors.ts';
import { detectMediaType, HEAD_BYTES } from '#platform/media/media-type.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { putMeasured } from '#platform/storage/put-measured.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { uploadedBytes } from '#platform/telemetry/metrics.ts';

export const EMPTY_FILE = refusal(
  400,
  (filename: string, field: string) => `The file '${filename}' in the part '${field}' is empty.`,
  ['camera.mp4', 'presenter'],
);
/** The media type of a track is known only after its first bytes. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** A stored and staged file that is not yet part of an event. */
export interface ReceivedFile {
  field: string;
  filename: string;
  mediatype: string;
  objectKey: string;
  /** In bytes. */
  size: number;
  sha256: string;
}

export interface IncomingFile {
  field: string;
  filename: string;
  /** In object mode. */
  stream: Readable;
  expectedBytes: number;
  /** Detects its media type; by default that of a recording. */
  detect?: ((head: Uint8Array) => string) | undefined;
  /** False for a copy of received bytes. */
  isReceived?: boolean;
}

/**
 * The files of one request, stored and staged on arrival and kept all together or not at all. Disposal deletes them unless
 * `keep` was called.
 */
export class StagedFiles implements AsyncDisposable {
  readonly #storage: ObjectStorage;
  readonly #staging: StagingLedger;
  readonly #account: string;
  readonly #keys: string[] = [];
  #kept = false;
  /** Aborted when one file is lost, because the remaining files are then useless. */
  readonly #lost = new AbortController();

  constructor({ storage, staging }: { storage: ObjectStorage; staging: StagingLedger }, account: string) {
    this.#storage = storage;
    this.#staging = staging;
    this.#account = account;
  }

  /** @throws {StagingExpired} if one of them was swept */
  requireAll(): void {
    this.#lost.signal.throwIfAborted();
  }

  /**
   * Stores a file.
   *
   * @throws {HttpError} 400 for an empty file
   * @throws {StorageRefused}
   * @throws {StagingExpired} as soon as one of the files was swept
   */
  async store({
    field,
    filename,
    stream,
    expectedBytes,
    detect = detectMediaType,
    isReceived = true,
  }: IncomingFile): Promise<ReceivedFile> {
    let received = 0;
    const objectKey = await this.#staging.stage('track', (reason) => this.#lost.abort(reason), {
      account: this.#account,
      filename,
      expectedBytes,
      received: () => received,
    });
    this.#keys.push(objectKey);
    const { head, ...measured } = await putMeasured(this.#storage, objectKey, stream, {
      mediatype: UNKNOWN_TYPE,
      expectedBytes,
      headBytes: HEAD_BYTES,
      signal: this.#lost.signal,
      disposable: true,
      onReceived: (bytes) => {
        if (isReceived) uploadedBytes.inc(bytes - received);
        received = bytes;
      },
      onDoubt: () => this.#staging.doubt(objectKey),
    });
    if (measured.size === 0) throw EMPTY_FILE(filename, field);
    return { field, filename, mediatype: detect(head), objectKey, ...measured };
  }

  /** Call after the files were committed to rows. */
  keep(): void {
    this.#kept = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#kept) await this.#staging.discard(this.#keys);
  }
}
