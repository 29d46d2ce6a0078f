import type { Readable } from 'node:stream';

/** What `put` needs to know about an object beside its bytes. */
export interface PutOptions {
  mediatype: string;
  /**
   * Upper bound of the size where one is known (a declared Content-Length, else the upload limit); sizes the parts of
   * an S3 upload. Without it an object may have 100 GiB.
   */
  expectedBytes?: number;
  /** Aborting it makes `put` reject and leaves nothing behind. */
  signal?: AbortSignal;
  /**
   * Is told when the storage may store the object, or begin to, after `put` has settled: it was asked for that and did not
   * answer.
   */
  onDoubt?: () => void;
}

/** Bytes from `start` to `end`, both counted from 0 and both included. An `end` past the last byte means that byte. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface ListedObject {
  key: string;
  size: number;
  modified: Date;
}

/** A stored object was asked for that is not there. */
export class ObjectNotFound extends Error {
  override name = 'ObjectNotFound';
  readonly key: string;
  constructor(key: string) {
    super(`No object is stored under ${key}.`);
    this.key = key;
  }
}

/** A range was asked for that holds no byte of the object. */
export class RangeNotSatisfiable extends Error {
  override name = 'RangeNotSatisfiable';
  constructor() {
    super('The range holds no byte of the object.');
  }
}

/** The part of a range that an object of `size` bytes has. @throws {RangeNotSatisfiable} */
export function satisfiableRange(range: ByteRange, size: number): ByteRange {
  const end = Math.min(range.end, size - 1);
  if (range.start < 0 || range.start > end) throw new RangeNotSatisfiable();
  return { start: range.start, end };
}

/**
 * Where recordings are kept. Keys are made by `objectKey()` only; they are final from the start, and an object is
 * real when a committed row names it.
 */
export interface ObjectStorage {
  readonly kind: 'folder' | 's3';
  /**
   * Stores the stream under the key with back-pressure: all of it or nothing. When it rejects, the source is no
   * longer read and no object, temporary file or multipart upload is left.
   */
  put(key: string, body: Readable, options: PutOptions): Promise<void>;
  /**
   * Streams an object or a part of it. Read it to its end or cancel it; aborting the signal makes it fail.
   *
   * @throws {ObjectNotFound}
   * @throws {RangeNotSatisfiable}
   */
  get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Size in bytes. @throws {ObjectNotFound} */
  size(key: string): Promise<number>;
  /** Removes objects and whatever an interrupted `put` left under their keys; absent keys are fine. */
  remove(keys: readonly string[]): Promise<void>;
  /** Every object whose key starts with the prefix, in no particular order. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /**
   * Keys of uploads that were begun and neither finished nor aborted (S3 multipart uploads, temporary files),
   * including those that other processes are working on.
   */
  unfinished(): AsyncIterable<string>;
  /** A path from which a tool can read the object in place, where there is one. */
  localPath(key: string): string | undefined;
  /** Rejects when the storage does not answer or refuses to. */
  check(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
