/** Hashes and writes the shared bytes of another thread (see `storage-thread.ts`). */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
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
  /** Opens an existing file. */
  | { open: string }
  | { write: SharedBytes; position: number }
  | { close: true };

export type StorageTask = StreamTask & { task: number; stream: number };

/** The answer to a task; `fault` when a file could not be opened, written or closed. */
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
  const hash = hashes.get(stream) ?? createHash('sha256');
  if ('sum' in task) {
    hash.update(bytesOf(task.sum));
    hashes.set(stream, hash);
    return {};
  }
  hashes.delete(stream);
  return task.end === 'sum' ? { sum: hash.digest('hex') } : {};
}

function access(stream: number, task: { open: string } | { write: SharedBytes; position: number } | { close: true }) {
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

function bytesOf({ memory, from, bytes }: SharedBytes): Uint8Array {
  return new Uint8Array(memory, from, bytes);
}
