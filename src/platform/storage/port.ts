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
   * Is shown the bytes in order, some megabytes at most at a time, beside their being stored. They are there until the
   * promise settles; a rejection ends all.
   */
  onBytes?: (bytes: Uint8Array) => Promise<void> | undefined;
  /** Whether the chunks of the stream are for nobody else, so that their memory may be freed at once. */
  disposable?: boolean;
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

/** What of a storage is listed, beside the prefix. */
export interface ListOptions {
  /** Leaves out the shards up to this one (`shardOf` of a key). */
  after?: string | undefined;
  /** Is told the names of what the prefix finds and is no object that `objectKey()` can have named. */
  onForeign?: (name: string) => void;
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

/** The storage did not take an object; `cause` says why. */
export class StorageRefused extends Error {
  override name = 'StorageRefused';
}

/** What the storage failed with, as the port tells of it. */
export function refused(cause: unknown): StorageRefused {
  return new StorageRefused('The object could not be stored.', { cause });
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

/** An object that comes in pieces, over several requests and perhaps processes. */
export interface BegunObject {
  key: string;
  /** What `begin` answered. */
  handle: string;
}

/** A piece of an object that is durable. */
export interface Piece {
  bytes: number;
  /** What the storage wants to have again when the object is complete; at most 200 characters. */
  receipt: string;
}

/** What becomes of the bytes that are appended to an object. */
export interface AppendOptions extends Pick<PutOptions, 'signal' | 'disposable' | 'onBytes'> {
  /** Is told of each piece as soon as it is durable, in their order, one after the other. A rejection ends all. */
  onPiece: (piece: Piece) => Promise<void>;
  /**
   * Is given what is left over, smaller than a piece, which the storage does not keep; it is there until the promise
   * settles. A rejection ends all.
   */
  onRest: (rest: Uint8Array) => Promise<void>;
}

/**
 * Where recordings are kept. Keys are made by `objectKey()` only; they are final from the start, and an object is
 * real when a committed row names it.
 */
export interface ObjectStorage {
  /**
   * Stores a stream under the key with back-pressure, or bytes, which must stay as they are: all of it or nothing. When it rejects, the source is no
   * longer read and no object, temporary file or multipart upload is left.
   *
   * @throws {StorageRefused} when the storage is at fault; else what the stream failed with, or the signal's reason
   */
  put(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<void>;
  /**
   * Begins an object that comes in pieces. It appears when it is complete; until then it is `unfinished`.
   *
   * @returns what the storage needs to go on with it; at most 2,000 characters
   * @throws {StorageRefused}
   */
  begin(key: string, options: Pick<PutOptions, 'mediatype' | 'expectedBytes' | 'onDoubt'>): Promise<string>;
  /**
   * Stores more of an object, with back-pressure. Settles when nothing is under way any more. Nobody else may append to
   * the object meanwhile.
   *
   * @param from how many bytes have become pieces before; of whatever came beyond them nothing is left
   * @throws {ObjectNotFound} when it was never begun, is complete or removed
   * @throws as `put`
   */
  append(object: BegunObject, from: number, body: Readable, options: AppendOptions): Promise<void>;
  /**
   * Makes an object of its pieces. May be repeated.
   *
   * @param receipts of its pieces, in their order
   * @param rest what comes after them
   * @throws {ObjectNotFound} when it was never begun, or removed
   * @throws {StorageRefused}
   */
  complete(object: BegunObject, receipts: readonly string[], rest: Uint8Array): Promise<void>;
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
  /** Every object whose key starts with the prefix, shard by shard in their order; in no particular order within one. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ListedObject>;
  /**
   * Keys of uploads that were begun and neither finished nor aborted (S3 multipart uploads, temporary files),
   * including those that other processes are working on.
   *
   * @param prefix what the keys begin with
   * @param onForeign is told the names of those that are no keys
   */
  unfinished(prefix?: string, onForeign?: (name: string) => void): AsyncIterable<string>;
  /** Removes whatever an interrupted `put` left under a key, beside the object that may stand there. */
  removeUnfinished(key: string): Promise<void>;
  /** A path from which a tool can read the object in place, where there is one. */
  localPath(key: string): string | undefined;
  /**
   * Resolves unless there is certainly no room for so many bytes; a storage that cannot tell takes whatever comes.
   *
   * @throws {StorageRefused} with a cause whose code is ENOSPC
   */
  requireRoom(bytes: number): Promise<void>;
  /** Rejects when the storage does not answer or refuses to. */
  check(signal?: AbortSignal): Promise<void>;
  /** The same, also of a storage that can be read only. */
  checkReading(): Promise<void>;
  close(): Promise<void>;
}
