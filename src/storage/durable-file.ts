import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Source } from './source.ts';

/** Chunks are written together: a write of its own for each costs more than the bytes do. */
const BATCH_BYTES = 2 ** 20;
/** As much as may wait for the disk before it is told to begin. */
const SYNC_BYTES = 32 * 2 ** 20;

/**
 * Writes a source to a new file with back-pressure: all bytes are on the disk when it resolves, and no file is left
 * when it rejects.
 */
export async function writeDurably(path: string, source: Source): Promise<void> {
  const file = await open(path, 'wx');
  // The file and the disk are at work while the next bytes arrive.
  let writing: Promise<unknown> = Promise.resolve();
  let syncing: Promise<unknown> = Promise.resolve();
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let unsynced = 0;
  const flush = async () => {
    await writing;
    source.signal.throwIfAborted();
    // Failing the source rather than throwing gives it the reason.
    writing = writeAll(file, batch).catch((error) => source.fail(error));
    unsynced += batchBytes;
    batch = [];
    batchBytes = 0;
    if (unsynced < SYNC_BYTES) return;
    unsynced = 0;
    await syncing;
    syncing = writing.then(() => file.datasync()).catch((error) => source.fail(error));
  };
  try {
    for await (const chunk of source.body) {
      batch.push(chunk);
      batchBytes += chunk.length;
      if (batchBytes >= BATCH_BYTES) await flush();
    }
    await flush();
    await Promise.all([writing, syncing]);
    source.signal.throwIfAborted();
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await Promise.all([writing, syncing]);
    await file.close();
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

async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  if (chunks.length === 0) return;
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten === chunks.reduce((sum, { length }) => sum + length, 0)) return;
  let rest = Buffer.concat(chunks).subarray(bytesWritten);
  while (rest.length > 0) rest = rest.subarray((await file.write(rest)).bytesWritten);
}
