/** Hashes files, and hashes and writes the shared bytes of another thread (see `storage-thread.ts`). */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/** Bytes of shared memory. Not a view: Deno would clone it, which is a hundred times slower. */
export interface SharedBytes {
  memory: ArrayBufferLike;
  from: number;
  bytes: number;
}

/** A task of a stream, which is either hashed or written to a file. */
export type StreamTask =
  | { sum: SharedBytes }
  /** The answer contains the hash. */
  | { end: 'sum' }
  | { end: 'drop' }
  | FileTask;

type FileTask =
  /** Hashes a part of a file. */
  | { sumFile: string; from: number; bytes: number }
  /** Opens an existing file. */
  | { open: string }
  | { write: SharedBytes; position: number }
  | { close: true };

export type StorageTask = StreamTask & { task: number; stream: number };

/** The answer to a task; `fault` when a file could not be opened, read, written or closed. */
export interface StorageAnswer {
  task: number;
  sum?: string;
  fault?: { message: string; code?: string };
}

/**
 * Linux has memory of up to this size ready for a file. Larger pieces were mostly never used: where the host of a
 * virtual machine must provide them first, writing takes several times as long.
 */
const WRITE_BYTES = 32 * 1024;

/** For all reads: new memory for each would take longer than the hash. */
const readBuffer = new Uint8Array(256 * 1024);

const hashes = new Map<number, Hash>();
const files = new Map<number, number>();

parentPort?.on('message', ({ task, ...what }: StorageTask) => {
  parentPort?.postMessage({ task, ...carryOut(what) } satisfies StorageAnswer);
});

function carryOut({ stream, ...task }: StreamTask & { stream: number }): Omit<StorageAnswer, 'task'> {
  if ('sum' in task || 'end' in task) return hashOf(stream, task);
  try {
    access(stream, task);
    return {};
  } catch (error) {
    // A message does not preserve the code of an error.
    const { message, code } = error as NodeJS.ErrnoException;
    return { fault: { message, ...(code && { code }) } };
  }
}

function hashOf(stream: number, task: { sum: SharedBytes } | { end: 'sum' | 'drop' }) {
  const hash = hashFor(stream);
  if ('sum' in task) {
    hash.update(bytesOf(task.sum));
    return {};
  }
  hashes.delete(stream);
  return task.end === 'sum' ? { sum: hash.digest('hex') } : {};
}

function hashFor(stream: number): Hash {
  const hash = hashes.get(stream) ?? createHash('sha256');
  hashes.set(stream, hash);
  return hash;
}

function access(stream: number, task: FileTask) {
  if ('sumFile' in task) return hashFile(hashFor(stream), task);
  if ('open' in task) return void files.set(stream, openSync(task.open, 'r+'));
  const file = files.get(stream);
  if (file === undefined) throw new Error('The file is not open.');
  if ('close' in task) {
    files.delete(stream);
    return closeSync(file);
  }
  const bytes = bytesOf(task.write);
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(WRITE_BYTES, bytes.length - done);
    done += writeSync(file, bytes, done, length, task.position + done);
  }
}

/** @throws if the file ends early */
function hashFile(hash: Hash, { sumFile: path, from, bytes }: { sumFile: string; from: number; bytes: number }): void {
  const file = openSync(path, 'r');
  try {
    for (let done = 0; done < bytes; ) {
      const read = readSync(file, readBuffer, 0, Math.min(readBuffer.length, bytes - done), from + done);
      if (read === 0) throw new Error('The file has become shorter while it was read.');
      hash.update(readBuffer.subarray(0, read));
      done += read;
    }
  } finally {
    closeSync(file);
  }
}

function bytesOf({ memory, from, bytes }: SharedBytes): Uint8Array {
  return new Uint8Array(memory, from, bytes);
}
