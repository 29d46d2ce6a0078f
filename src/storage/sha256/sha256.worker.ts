/** Sums what another thread shares with this one (see `sha256-thread.ts`). */
import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/** More bytes of a stream; its sum, or nothing any more. */
export interface Sha256Task {
  task: number;
  stream: number;
  /** Part of what is shared, not a view of it: Deno would clone that, which takes a hundred times as long. */
  more?: { memory: ArrayBufferLike; from: number; bytes: number };
  end?: 'sum' | 'drop';
}

/** A task is done; with the sum in hexadecimal where that was asked for. */
export interface Sha256Answer {
  task: number;
  sum?: string;
}

const hashes = new Map<number, Hash>();

parentPort?.on('message', ({ task, stream, more, end }: Sha256Task) => {
  const hash = hashes.get(stream) ?? createHash('sha256');
  if (more) hash.update(new Uint8Array(more.memory, more.from, more.bytes));
  if (end) hashes.delete(stream);
  else hashes.set(stream, hash);
  const answer: Sha256Answer = { task, ...(end === 'sum' && { sum: hash.digest('hex') }) };
  parentPort?.postMessage(answer);
});
