import { type FileHandle, open, rm } from 'node:fs/promises';
import { type Block, both, gather } from './gather.ts';
import type { MemoryShare } from './memory.ts';
import type { Source } from './source.ts';
import { sharedBytes, type ThreadStream, threadStream } from './thread/storage-thread.ts';

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

/** Written at once: a write of its own for each chunk costs more than the bytes do. What is larger leaves the caches. */
const BLOCK_BYTES = 512 * 1024;
/** As much as may wait for the disk before it is told to begin. */
const SYNC_BYTES = 32 * 2 ** 20;

/**
 * Writes a source to a new file with back-pressure: all bytes are on the disk when it resolves, and no file is left
 * when it rejects.
 */
export async function writeDurably(path: string, source: Source, memory: MemoryShare): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await writeSynced({ path, file }, source, { memory, from: 0, onSynced: async () => undefined });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Writes a source to a file with back-pressure, and settles when nothing is being written any more.
 *
 * @param options.from where the first byte goes
 * @param options.onSynced is told how many more bytes are on the disk, one time after the other
 */
export async function writeSynced(
  { path, file }: { path: string; file: FileHandle },
  source: Source,
  { memory, from, onSynced }: { memory: MemoryShare; from: number; onSynced: (bytes: number) => Promise<void> },
): Promise<void> {
  const writer = new FileWriter(path, file);
  // The file and the disk are at work while the next bytes arrive; failing the source gives it the reason.
  let writing: Promise<unknown> = Promise.resolve();
  let before: Promise<unknown> = writing;
  let syncing: Promise<unknown> = Promise.resolve();
  let unsynced = 0;
  let at = from;
  const write = async ({ block, give }: Block, position: number) => {
    await writer.write(block, position);
    give();
  };
  const sync = async (after: Promise<unknown>, bytes: number) => {
    await after;
    source.signal.throwIfAborted();
    await file.datasync();
    if (bytes > 0) await onSynced(bytes);
  };
  try {
    for await (const block of gather(source, BLOCK_BYTES, memory)) {
      await before;
      before = writing;
      const written = write(block, at).catch((error) => source.fail(error));
      writing = both(writing, written);
      at += block.block.length;
      unsynced += block.block.length;
      if (unsynced < SYNC_BYTES) continue;
      // The disk may not lag behind by more than that, or the end would be a long wait.
      await syncing;
      syncing = sync(both(writing, syncing), unsynced).catch((error) => source.fail(error));
      unsynced = 0;
    }
    await sync(both(writing, syncing), unsynced);
  } finally {
    await both(writing, syncing);
    await writer.close();
  }
}

/** Makes the names in a folder as durable as the files they name. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
