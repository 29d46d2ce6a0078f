import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Source } from './source.ts';

/** As much as may wait for the disk before it is told to begin. */
const SYNC_BYTES = 32 * 2 ** 20;

/**
 * Writes a source to a new file with back-pressure: all bytes are on the disk when it resolves, and no file is left
 * when it rejects.
 */
export async function writeDurably(path: string, source: Source): Promise<void> {
  const file = await open(path, 'wx');
  // The disk works while bytes still arrive; otherwise all of them would wait for the last.
  let syncing: Promise<unknown> = Promise.resolve();
  let unsynced = 0;
  try {
    for await (const chunk of source.body) {
      // Failing here rather than by leaving the loop gives the source the reason.
      await writeAll(file, chunk).catch((error) => source.fail(error));
      source.signal.throwIfAborted();
      unsynced += chunk.length;
      if (unsynced < SYNC_BYTES) continue;
      unsynced = 0;
      await syncing;
      syncing = file.datasync().catch((error) => source.fail(error));
    }
    await syncing;
    source.signal.throwIfAborted();
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await syncing;
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

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await file.write(chunk, written)).bytesWritten;
  }
}
