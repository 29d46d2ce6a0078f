import type { Readable } from 'node:stream';

export interface PutOptions {
  mediatype: string;
  /** Upper bound of the size; sets the part size of an S3 upload. The default is 100 GiB. */
  expectedBytes?: number;
  /** Aborting it makes `put` reject and leaves nothing behind. */
  signal?: AbortSignal;
  /** Receives the bytes in order; they are valid until the promise settles. A rejection ends the upload. */
  onBytes?: (bytes: Uint8Array) => Promise<void> | undefined;
  /** True when the stream's chunks have no other user, so that their memory may be freed immediately. */
  disposable?: boolean;
  /** Called when the storage may still store the object after `put` has settled, because a request got no answer. */
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

export function storageRefused(cause: unknown): StorageRefused {
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
  handle: string;
}

/** A durable piece of an object. */
export interface Piece {
  bytes: number;
  /** Needed to complete the object; at most 200 characters. */
  receipt: string;
}

export interface AppendOptions extends Pick<PutOptions, 'signal' | 'disposable' | 'onBytes'> {
  /** Receives each piece as soon as it is durable, in order, one after another. A rejection ends the upload. */
  onPiece: (piece: Piece) => Promise<void>;
  /** Receives the bytes after the last piece, which the storage does not keep; valid until the promise settles. */
  onRest: (rest: Uint8Array) => Promise<void>;
}

/** The storage of recordings. Only `objectKey()` creates keys. An object is real when a committed row names it. */
export interface ObjectStorage {
  /**
   * Stores a stream, or bytes that must not change: all of it or nothing. After a rejection nothing is left.
   *
   * @throws {StorageRefused} when the storage failed; else the error of the stream, or the signal's reason
   */
  put(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<void>;
  /**
   * Stores a file without copying it; the file stays, and must not change afterwards.
   *
   * @returns false if that is impossible, as in another file system
   * @throws {StorageRefused}
   */
  link(key: string, path: string): Promise<boolean>;
  /**
   * Begins an object that arrives in pieces; it is `unfinished` until it is complete.
   *
   * @returns the handle for `append` and `complete`; at most 2,000 characters
   * @throws {StorageRefused}
   */
  begin(key: string, options: Pick<PutOptions, 'mediatype' | 'expectedBytes' | 'onDoubt'>): Promise<string>;
  /**
   * Stores more of an object. Settles after the last request. Calls for one object must not overlap.
   *
   * @param from total size of the earlier pieces; bytes beyond them are discarded
   * @throws {ObjectNotFound} when it was never begun, is complete or was removed; else as `put`
   */
  append(object: BegunObject, from: number, body: Readable, options: AppendOptions): Promise<void>;
  /**
   * Makes an object of its pieces and the rest. May be repeated.
   *
   * @throws {ObjectNotFound} when it was never begun, or was removed
   * @throws {StorageRefused}
   */
  complete(object: BegunObject, receipts: readonly string[], rest: Uint8Array): Promise<void>;
  /**
   * Streams an object or a part of it. Read the stream to its end or cancel it.
   *
   * @throws {ObjectNotFound | RangeNotSatisfiable}
   */
  get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Returns the size in bytes. @throws {ObjectNotFound} */
  size(key: string): Promise<number>;
  /** Removes objects and the leftovers of interrupted `put` calls under their keys; missing keys are ignored. */
  remove(keys: readonly string[]): Promise<void>;
  /** Lists the objects whose key starts with the prefix, in the order of their shards. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ListedObject>;
  /** Lists the keys of uploads that are neither finished nor aborted, including those that other processes work on. */
  unfinished(prefix?: string, onForeign?: (name: string) => void): AsyncIterable<string>;
  /** Removes the leftovers of an interrupted `put` under a key, but not the object. */
  removeUnfinished(key: string): Promise<void>;
  /** Returns a path from which a tool can read the object in place, if one exists. */
  localPath(key: string): string | undefined;
  /** Resolves unless there is certainly no space. @throws {StorageRefused} with a cause whose code is ENOSPC */
  requireRoom(bytes: number): Promise<void>;
  /** Rejects when the storage does not answer, or refuses to read or write. */
  check(signal?: AbortSignal): Promise<void>;
  /** The same for reading only. */
  checkReading(): Promise<void>;
  close(): Promise<void>;
}
