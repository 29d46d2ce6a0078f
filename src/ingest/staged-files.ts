import type { Readable } from 'node:stream';
import { refusal } from '#platform/http/errors/refusal.ts';
import { detectMediaType, HEAD_BYTES } from '#platform/media/signature.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import { putMeasured } from '#platform/storage/put-measured.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { uploadedBytes } from '#platform/telemetry/metrics.ts';

export const EMPTY_FILE = refusal(
  400,
  (filename: string, field: string) => `The file '${filename}' in the part '${field}' is empty.`,
  ['camera.mp4', 'presenter'],
);
/** What a track is, is known when its head has been stored. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** A file that is stored and staged, and not yet part of an event. */
export interface ReceivedFile {
  /** The form field it came in. */
  field: string;
  filename: string;
  mediatype: string;
  objectKey: string;
  /** In bytes. */
  size: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}

/** A file that comes in. */
export interface IncomingFile {
  /** The form field it came in, for sentences. */
  field: string;
  filename: string;
  /** Its chunks, each by itself. */
  stream: Readable;
  /** At most, in bytes. */
  expectedBytes: number;
  /** Tells its media type; a recording's unless given. */
  detect?: (head: Uint8Array) => string;
  /** Whether it comes from a client; false for a copy of what has come. */
  isReceived?: boolean;
}

/**
 * The files of one request: stored and staged as they come, kept all together or not at all. What was stored is removed when
 * they are disposed of, unless they are kept.
 */
export class StagedFiles implements AsyncDisposable {
  readonly #storage: ObjectStorage;
  readonly #staging: StagingLedger;
  readonly #account: string;
  readonly #keys: string[] = [];
  #kept = false;
  /** One file that is lost makes the others useless: whoever sends them is to know before the end. */
  readonly #lost = new AbortController();

  /** @param account the user name of whoever sends them */
  constructor({ storage, staging }: { storage: ObjectStorage; staging: StagingLedger }, account: string) {
    this.#storage = storage;
    this.#staging = staging;
    this.#account = account;
  }

  /** @throws {StagingExpired} when one of them has been swept */
  requireAll(): void {
    this.#lost.signal.throwIfAborted();
  }

  /**
   * Stores a file.
   *
   * @throws {HttpError} 400 for an empty one
   * @throws {StorageRefused}
   * @throws {StagingExpired} as soon as one of the files has been swept
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

  /** Rows have them now. */
  keep(): void {
    this.#kept = true;
  }

  /** Removes what was stored; what a row has taken stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#kept) await this.#staging.discard(this.#keys);
  }
}
