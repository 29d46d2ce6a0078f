import { Readable } from 'node:stream';
import { RandomAccessReader } from 'yauzl';
import { type ObjectStorage, refused, type StorageRefused } from '#platform/storage/port.ts';

/** One request to an object storage brings the directory of a usual archive, or many small files of it. */
const BLOCK_BYTES = 64 * 1024;

/** An object of the storage. */
export interface StoredObject {
  objectKey: string;
  /** In bytes. */
  size: number;
}

/** Reads parts of a stored object for yauzl. Keeps the last block that was read. */
export class StoredObjectReader extends RandomAccessReader {
  readonly #storage: Pick<ObjectStorage, 'get'>;
  readonly #object: StoredObject;
  #block: Buffer = Buffer.alloc(0);
  #blockStart = 0;
  /** The first failure of the storage, which is no fault of the archive. */
  failure: StorageRefused | undefined;

  constructor(storage: Pick<ObjectStorage, 'get'>, object: StoredObject) {
    super();
    this.#storage = storage;
    this.#object = object;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const copy = async () => {
      if (position + length > this.#object.size) throw new Error('unexpected end of the archive');
      if (!this.#holds(position, position + length)) await this.#readBlock(position, length);
      this.#block.copy(buffer, offset, position - this.#blockStart, position - this.#blockStart + length);
    };
    copy().then(() => callback(null), callback);
  }

  /** @param end of the range, not included */
  override _readStreamForRange(start: number, end: number): Readable {
    if (!this.#holds(start, end)) return Readable.from(this.#get(start, end));
    return Readable.from([this.#block.subarray(start - this.#blockStart, end - this.#blockStart)]);
  }

  #holds(start: number, end: number): boolean {
    return start >= this.#blockStart && end <= this.#blockStart + this.#block.length;
  }

  async #readBlock(start: number, length: number): Promise<void> {
    const end = Math.min(start + Math.max(length, BLOCK_BYTES), this.#object.size);
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#get(start, end)) chunks.push(chunk);
    this.#block = Buffer.concat(chunks);
    this.#blockStart = start;
  }

  async *#get(start: number, end: number): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* await this.#storage.get(this.#object.objectKey, { start, end: end - 1 });
    } catch (error) {
      this.failure ??= refused(error);
      throw error;
    }
  }
}
