import type { FileHandle } from 'node:fs/promises';
import { sharedBytes, type ThreadStream, threadStream } from './storage-thread.ts';

/** Less is written by the thread that has it, which costs less than to tell another one of it. */
const SMALL_BYTES = 64 * 1024;

/**
 * Writes to a file that exists. What is large and in shared memory is written by a thread beside the one that receives it:
 * on Deno a write blocks the thread that makes it, and on Node handing a write over takes as long as the write itself.
 */
export class FileWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  #opened: Promise<ThreadStream> | undefined;

  /** @param file the same file, open for writing */
  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Writes bytes, which must stay as they are until the promise settles. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    const isShared = bytes.buffer instanceof SharedArrayBuffer;
    if (isShared && bytes.length >= SMALL_BYTES) await this.#writeThere(bytes, position);
    else await this.#writeHere(bytes, position);
  }

  /** To be called when all writes have settled. */
  async close(): Promise<void> {
    const ask = await this.#opened?.catch(() => undefined);
    await ask?.({ close: true });
  }

  async #writeThere(bytes: Uint8Array, position: number): Promise<void> {
    this.#opened ??= this.#open();
    const ask = await this.#opened;
    await ask({ write: sharedBytes(bytes), position });
  }

  async #open(): Promise<ThreadStream> {
    const ask = threadStream();
    await ask({ open: this.#path });
    return ask;
  }

  async #writeHere(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  }
}
