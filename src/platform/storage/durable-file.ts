import { type FileHandle, open, rm } from 'node:fs/promises';
import { sharedBytes, type ThreadStream, threadStream } from './thread/storage-thread.ts';
import type { MemoryShare } from './upload-memory.ts';
import { type Block, bothSettled, readBlocks, type Source } from './upload-source.ts';

/** Smaller writes stay in this thread, which is cheaper than a message to another one. */
const SMALL_BYTES = 64 * 1024;

/**
 * Returns functions that write to an existing file. Large blocks of shared memory are written by another thread: on Deno
 * a write blocks its thread, and on Node handing over a write takes as long as the write.
 */
export function fileWriter(path: string, file: FileHandle) {
  let opened: Promise<ThreadStream> | undefined;
  const openInThread = async () => {
    const ask = threadStream();
    await ask({ open: path });
    return ask;
  };
  return {
    /** Writes bytes, which must not change until the promise settles. */
    async write(bytes: Uint8Array, position: number): Promise<void> {
      if (bytes.buffer instanceof SharedArrayBuffer && bytes.length >= SMALL_BYTES) {
        opened ??= openInThread();
        const ask = await opened;
        await ask({ write: sharedBytes(bytes), position });
        return;
      }
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
    },
    /** Call this after all writes have settled. */
    async close(): Promise<void> {
      const ask = await opened?.catch(() => undefined);
      await ask?.({ close: true });
    },
  };
}

/** The size of a write: one write for each chunk is slower. Larger blocks do not fit the caches. */
const BLOCK_BYTES = 512 * 1024;
/** The most bytes that wait for the disk before a sync starts. */
const SYNC_BYTES = 32 * 2 ** 20;

/** Writes a source to a new file: all bytes are on disk when it resolves, and no file is left when it rejects. */
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

/** Writes a source to a file with back-pressure, from a position on. Settles after the last write. */
export async function writeSynced(
  { path, file }: { path: string; file: FileHandle },
  source: Source,
  { memory, from, onSynced }: { memory: MemoryShare; from: number; onSynced: (bytes: number) => Promise<void> },
): Promise<void> {
  const writer = fileWriter(path, file);
  // File and disk work while the next bytes arrive. A failed write fails the source with its error.
  let writing: Promise<unknown> = Promise.resolve();
  let before: Promise<unknown> = writing;
  let syncing: Promise<unknown> = Promise.resolve();
  let unsynced = 0;
  let at = from;
  const write = async ({ block, release }: Block, position: number) => {
    await writer.write(block, position);
    release();
  };
  const sync = async (after: Promise<unknown>, bytes: number) => {
    await after;
    source.signal.throwIfAborted();
    await file.datasync();
    if (bytes > 0) await onSynced(bytes);
  };
  try {
    for await (const block of readBlocks(source, BLOCK_BYTES, memory)) {
      await before;
      before = writing;
      const written = write(block, at).catch((error) => source.fail(error));
      writing = bothSettled(writing, written);
      at += block.block.length;
      unsynced += block.block.length;
      if (unsynced < SYNC_BYTES) continue;
      // The disk may not lag behind by more, or the final sync would take long.
      await syncing;
      syncing = sync(bothSettled(writing, syncing), unsynced).catch((error) => source.fail(error));
      unsynced = 0;
    }
    await sync(bothSettled(writing, syncing), unsynced);
  } finally {
    await bothSettled(writing, syncing);
    await writer.close();
  }
}

/** Makes the names in a folder durable. */
export const syncFolder = syncFile;

/** Makes the content of a file durable. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
