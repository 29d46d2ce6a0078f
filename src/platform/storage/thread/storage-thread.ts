import { createHash, type Hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { SharedBytes, StorageAnswer, StorageTask, StreamTask } from './storage-thread.worker.ts';

/** Frequent garbage collection: else shared memory that has no other user is freed late. */
const LIMITS = { resourceLimits: { maxYoungGenerationSizeMb: 1 } };

/** A thread that computes SHA-256, and reads and writes files. It does not keep an idle process alive. */
export class StorageThread {
  readonly #worker = new Worker(new URL('./storage-thread.worker.ts', import.meta.url), LIMITS);
  readonly #asked = new Map<number, PromiseWithResolvers<string | undefined>>();
  #ended: Error | undefined;
  #tasks = 0;
  #streams = 0;

  constructor() {
    this.#worker.on('message', ({ task, sum, fault }: StorageAnswer) => {
      const asked = this.#asked.get(task);
      if (fault) asked?.reject(Object.assign(new Error(fault.message), { code: fault.code }));
      else asked?.resolve(sum);
      this.#asked.delete(task);
      if (this.#asked.size === 0) this.#worker.unref();
    });
    for (const name of ['error', 'exit'] as const) this.#worker.on(name, (cause) => this.#end(cause));
    this.#worker.unref();
  }

  get works(): boolean {
    return this.#ended === undefined;
  }

  /** Starts a stream. The thread runs its tasks one after another. */
  stream(): ThreadStream {
    const stream = this.#streams++;
    return (task) => this.#ask({ ...task, stream });
  }

  #ask(task: StreamTask & { stream: number }): Promise<string | undefined> {
    if (this.#ended) return Promise.reject(this.#ended);
    const number = this.#tasks++;
    const asked = Promise.withResolvers<string | undefined>();
    if (this.#asked.size === 0) this.#worker.ref();
    this.#asked.set(number, asked);
    this.#worker.postMessage({ ...task, task: number } satisfies StorageTask);
    return asked.promise;
  }

  #end(cause: unknown): void {
    this.#ended ??= new Error('The storage thread has exited.', { cause });
    for (const { reject } of this.#asked.values()) reject(this.#ended);
    this.#asked.clear();
  }
}

/** Runs a task of a stream, after all earlier ones. @throws when the thread has exited */
export type ThreadStream = (task: StreamTask) => Promise<string | undefined>;

let thread: StorageThread | undefined;
/** Reads files: a slow disk must not delay uploads, which the other thread serves. */
let reader: StorageThread | undefined;

export function threadStream(): ThreadStream {
  thread = running(thread);
  return thread.stream();
}

function running(known: StorageThread | undefined): StorageThread {
  return known?.works ? known : new StorageThread();
}

export function sharedBytes({ buffer: memory, byteOffset: from, length: bytes }: Uint8Array): SharedBytes {
  return { memory, from, bytes };
}

/** A stream that begins with less is hashed in this thread, which is cheaper than a message to another one. */
const SMALL_BYTES = 64 * 1024;

/** The SHA-256 of one stream, computed in another thread: it would take the receiving thread a third of its time. */
export interface Sha256 {
  /** Adds bytes, which must not change until the promise resolves; undefined when they are not needed. */
  add(bytes: Uint8Array): Promise<void> | undefined;
  /** Ends the stream. @returns the hash in hexadecimal. @throws when the thread has exited */
  digest(): Promise<string>;
  /** Ends the stream without a result. */
  drop(): void;
}

export function beginSha256(): Sha256 {
  let sum: Sha256 | undefined;
  return {
    add(bytes) {
      sum ??= bytes.length < SMALL_BYTES ? hashHere(createHash('sha256')) : hashInThread();
      return sum.add(bytes);
    },
    digest: () => (sum ?? hashHere(createHash('sha256'))).digest(),
    drop: () => sum?.drop(),
  };
}

/** Between two parts, an abort is noticed, and other files have their turn. */
const PART_BYTES = 4 * 2 ** 20;

/** Returns the SHA-256 of a file in hexadecimal. @throws if it cannot be read, or has fewer bytes */
export async function sha256OfFile(path: string, bytes: number, signal?: AbortSignal): Promise<string> {
  reader = running(reader);
  const ask = reader.stream();
  try {
    for (let from = 0; from < bytes; from += PART_BYTES) {
      signal?.throwIfAborted();
      await ask({ sumFile: path, from, bytes: Math.min(PART_BYTES, bytes - from) });
    }
    return (await ask({ end: 'sum' })) ?? '';
  } catch (error) {
    void ask({ end: 'drop' }).catch(() => undefined);
    throw error;
  }
}

/** Returns the SHA-256 of bytes in hexadecimal. Bytes in shared memory must not change until it resolves. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const sum = beginSha256();
  // The digest follows it, and fails with the same error.
  sum.add(bytes)?.catch(() => undefined);
  return sum.digest();
}

function hashHere(hash: Hash): Sha256 {
  return {
    add: (bytes) => void hash.update(bytes),
    digest: async () => hash.digest('hex'),
    drop: () => undefined,
  };
}

function hashInThread(): Sha256 {
  const ask = threadStream();
  return {
    add: async (bytes) => void (await ask({ sum: sharedBytes(bytes) })),
    digest: async () => (await ask({ end: 'sum' })) ?? '',
    drop: () => void ask({ end: 'drop' }).catch(() => undefined),
  };
}
