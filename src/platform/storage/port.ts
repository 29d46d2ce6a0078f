import type { Readable } from 'node:stream';

/** The options of `put`. */
export interface PutOptions {
  mediatype: string;
  /**
   * Upper bound of the size where one is known (a declared Content-Length, else the upload limit); sets the part size
   * of an S3 upload. The default is 100 GiB.
   */
  expectedBytes?: number;
  /** Aborting it makes `put` reject and leaves nothing behind. */
  signal?: AbortSignal;
  /**
   * Receives the bytes in order, at most some megabytes per call, while they are stored. They are valid until the
   * promise settles; a rejection ends the upload.
   */
  onBytes?: (bytes: Uint8Array) => Promise<void> | undefined;
  /** True when the stream's chunks have no other user, so that their memory may be freed immediately. */
  disposable?: boolean;
  /**
   * Called when the storage may store the object, or begin to, after `put` has settled, because a request got no
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

/** Options of a listing. */
export interface ListOptions {
  /** Skips the shards up to this one (`shardOf` of a key). */
  after?: string | undefined;
  /** Receives names with the prefix that `objectKey()` cannot have created. */
  onForeign?: (name: string) => void;
}

/** The requested object does not exist. */
export class ObjectNotFound extends Error {
  override name = 'ObjectNotFound';
  readonly key: string;
  constructor(key: string) {
    super(`No object is stored under ${key}.`);
    this.key = key;
  }
}

/** The storage did not accept an object; `cause` is the error. */
export class StorageRefused extends Error {
  override name = 'StorageRefused';
}

/** Wraps an error of the storage. */
export function refused(cause: unknown): StorageRefused {
  return new StorageRefused('The object could not be stored.', { cause });
}

/** The requested range contains no byte of the object. */
export class RangeNotSatisfiable extends Error {
  override name = 'RangeNotSatisfiable';
  constructor() {
    super('The range holds no byte of the object.');
  }
}

/** Returns the part of a range that an object of `size` bytes has. @throws {RangeNotSatisfiable} */
export function satisfiableRange(range: ByteRange, size: number): ByteRange {
  const end = Math.min(range.end, size - 1);
  if (range.start < 0 || range.start > end) throw new RangeNotSatisfiable();
  return { start: range.start, end };
}

/** An object that arrives in pieces, over several requests and perhaps processes. */
export interface BegunObject {
  key: string;
  /** The result of `begin`. */
  handle: string;
}

/** A durable piece of an object. */
export interface Piece {
  bytes: number;
  /** Needed to complete the object; at most 200 characters. */
  receipt: string;
}

/** The options of `append`. */
export interface AppendOptions extends Pick<PutOptions, 'signal' | 'disposable' | 'onBytes'> {
  /** Receives each piece as soon as it is durable, in order, one after another. A rejection ends the upload. */
  onPiece: (piece: Piece) => Promise<void>;
  /**
   * Receives the remaining bytes, less than a piece, which the storage does not keep. They are valid until the promise
   * settles; a rejection ends the upload.
   */
  onRest: (rest: Uint8Array) => Promise<void>;
}

/**
 * The storage of recordings. Only `objectKey()` creates keys; they never change, and an object is real when a committed
 * row names it.
 */
export interface ObjectStorage {
  /**
   * Stores a stream with back-pressure, or bytes, which must not change: all of it or nothing. When it rejects, the
   * source is no longer read and no object, temporary file or multipart upload is left.
   *
   * @throws {StorageRefused} when the storage failed; else the error of the stream, or the signal's reason
   */
  put(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<void>;
  /**
   * Begins an object that arrives in pieces. It appears when it is complete; until then it is `unfinished`.
   *
   * @returns the handle for `append` and `complete`; at most 2,000 characters
   * @throws {StorageRefused}
   */
  begin(key: string, options: Pick<PutOptions, 'mediatype' | 'expectedBytes' | 'onDoubt'>): Promise<string>;
  /**
   * Stores more of an object, with back-pressure. Settles after the last request. Calls for one object must not
   * overlap.
   *
   * @param from total size of the earlier pieces; bytes beyond them are discarded
   * @throws {ObjectNotFound} when it was never begun, is complete or was removed
   * @throws as `put`
   */
  append(object: BegunObject, from: number, body: Readable, options: AppendOptions): Promise<void>;
  /**
   * Makes an object of its pieces. May be repeated.
   *
   * @param receipts of its pieces, in order
   * @param rest the bytes after the pieces
   * @throws {ObjectNotFound} when it was never begun, or was removed
   * @throws {StorageRefused}
   */
  complete(object: BegunObject, receipts: readonly string[], rest: Uint8Array): Promise<void>;
  /**
   * Streams an object or a part of it. Read the stream to its end or cancel it; aborting the signal makes it fail.
   *
   * @throws {ObjectNotFound}
   * @throws {RangeNotSatisfiable}
   */
  get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Returns the size in bytes. @throws {ObjectNotFound} */
  size(key: string): Promise<number>;
  /** Removes objects and the leftovers of interrupted `put` calls under their keys; missing keys are ignored. */
  remove(keys: readonly string[]): Promise<void>;
  /** Lists the objects whose key starts with the prefix, in the order of their shards. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ListedObject>;
  /**
   * Lists the keys of uploads that are neither finished nor aborted (S3 multipart uploads, temporary files), including
   * those that other processes work on.
   *
   * @param onForeign receives names that are not keys
   */
  unfinished(prefix?: string, onForeign?: (name: string) => void): AsyncIterable<string>;
  /** Removes the leftovers of an interrupted `put` under a key, but not the object. */
  removeUnfinished(key: string): Promise<void>;
  /** Returns a path from which a tool can read the object in place, if one exists. */
  localPath(key: string): string | undefined;
  /**
   * Resolves unless there is certainly no space for so many bytes; a storage that does not know accepts any size.
   *
   * @throws {StorageRefused} with a cause whose code is ENOSPC
   */
  requireRoom(bytes: number): Promise<void>;
  /** Rejects when the storage does not answer, or refuses to read or write. */
  check(signal?: AbortSignal): Promise<void>;
  /** The same for reading only. */
  checkReading(): Promise<void>;
  close(): Promise<void>;
}
