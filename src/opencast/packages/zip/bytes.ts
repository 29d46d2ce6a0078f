import { cutShort } from './refusals.ts';

const EMPTY = Buffer.alloc(0);

/** Bytes that come in chunks, read in pieces of other sizes. What is read is not copied unless it lies across chunks. */
export class Bytes {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffer: Buffer = EMPTY;
  #offset: number;

  /** @param offset where in the archive the source begins */
  constructor(source: AsyncIterable<Uint8Array>, offset = 0) {
    this.#source = source[Symbol.asyncIterator]();
    this.#offset = offset;
  }

  /** Of what is next, from the beginning of the archive. */
  get offset(): number {
    return this.#offset;
  }

  /** What is next, which stays next; fewer bytes where the source ends. */
  async peek(length: number): Promise<Buffer> {
    const come: Buffer[] = [this.#buffer];
    let have = this.#buffer.length;
    while (have < length) {
      const { value, done } = await this.#source.next();
      if (done) break;
      come.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      have += value.length;
    }
    // The buffer may have been empty, and chunks may be.
    const full = come.filter((chunk) => chunk.length > 0);
    this.#buffer = full.length > 1 ? Buffer.concat(full) : (full[0] ?? EMPTY);
    return this.#buffer.subarray(0, length);
  }

  /** The next bytes. @throws {HttpError} 400 when there are fewer */
  async take(length: number): Promise<Buffer> {
    const taken = await this.peek(length);
    if (taken.length < length) throw cutShort();
    this.skip(length);
    return taken;
  }

  /** What has come, at least one byte and at most so many; it stays next. @throws {HttpError} 400 at the end */
  async available(most: number): Promise<Buffer> {
    if ((await this.peek(1)).length === 0) throw cutShort();
    return this.#buffer.subarray(0, most);
  }

  /** Drops bytes that have been looked at. */
  skip(length: number): void {
    this.#offset += length;
    // Whoever got all of a chunk may give up its memory.
    this.#buffer = length === this.#buffer.length ? EMPTY : this.#buffer.subarray(length);
  }

  /** All that is left. */
  async *rest(): AsyncGenerator<Buffer, void, void> {
    while ((await this.peek(1)).length > 0) {
      const chunk = this.#buffer;
      this.skip(chunk.length);
      yield chunk;
    }
  }

  /** Lets go of the source without waiting for it: it may be silent. */
  close(): void {
    this.#source.return?.().catch(() => undefined);
  }
}
