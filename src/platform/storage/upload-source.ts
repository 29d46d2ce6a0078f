import type { Readable } from 'node:stream';
import { withTimeout } from '../process/timeout.ts';
import { ObjectNotFound, type PutOptions, storageRefused } from './object-storage.ts';
import type { MemoryShare, UploadMemory } from './upload-memory.ts';

type SourceOptions = Pick<PutOptions, 'signal' | 'onBytes' | 'disposable'>;

/**
 * The input of a `put`. The first error of the sender, the caller's signal or the storage destroys the stream, so that
 * nothing waits for a reader that is gone, and aborts `signal`.
 */
export class Source {
  readonly #body: Readable | undefined;
  /** The complete bytes, if they are in memory already. */
  readonly whole: Uint8Array | undefined;
  readonly #options: SourceOptions;
  readonly #stop = new AbortController();
  /** Aborts with the first error as its reason. */
  readonly signal = this.#stop.signal;
  readonly #onCallerAbort = () => this.#end(this.#options.signal?.reason);
  #refused = false;

  constructor(body: Readable | Uint8Array, options: SourceOptions) {
    if (body instanceof Uint8Array) this.whole = body;
    else this.#body = body;
    this.#options = options;
    // Never removed: an error after the last read would end the process.
    this.#body?.on('error', (error) => this.#end(error));
    if (options.signal?.aborted) this.#end(options.signal.reason);
    else options.signal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Yields the bytes as they arrive. A chunk is valid until the next one is requested. @throws the first error */
  async *chunks(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for await (const chunk of (this.#body ?? []) as AsyncIterable<Uint8Array>) {
        this.signal.throwIfAborted();
        yield chunk;
        if (this.#options.disposable) dispose(chunk);
      }
    } catch (error) {
      this.#end(error);
    }
    this.signal.throwIfAborted();
  }

  /** Shows more bytes to the caller. @returns a promise while they are in use; an error ends the source instead */
  show(bytes: Uint8Array): Promise<void> | undefined {
    try {
      return this.#options.onBytes?.(bytes)?.catch((error) => this.#end(error));
    } catch (error) {
      this.#end(error);
      return undefined;
    }
  }

  /** Returns the promise, but rejects on an error of the source. @throws the first error */
  rejectOnFailure<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onFault = () => reject(this.signal.reason);
      if (this.signal.aborted) return onFault();
      this.signal.addEventListener('abort', onFault, { once: true });
      promise.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', onFault));
    });
  }

  /** Validates the caller's input; an error destroys the stream. */
  validate<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Waits for the caller; its rejection counts as an error of the caller. */
  async awaitCaller(told: Promise<void>): Promise<void> {
    try {
      await told;
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Ends the stream because of an error of the storage; only the first error counts. */
  fail(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#refused = true;
    this.#end(reason);
  }

  /** Runs the work of a storage, with a share of the memory. @throws {StorageRefused} when the work failed; else the first error */
  async run(memory: UploadMemory, work: (share: MemoryShare) => Promise<void>): Promise<void> {
    const share = memory.share();
    try {
      await work(share);
    } catch (error) {
      this.fail(error);
      const { reason } = this.signal;
      throw this.#refused && !(reason instanceof ObjectNotFound) ? storageRefused(reason) : reason;
    } finally {
      share.close();
      this.#options.signal?.removeEventListener('abort', this.#onCallerAbort);
    }
  }

  #end(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#stop.abort(reason);
    this.#body?.destroy(reason instanceof Error ? reason : new Error('The upload was aborted.', { cause: reason }));
  }
}

/**
 * Frees the memory of a chunk. Each chunk has its own buffer, and little else is allocated: garbage collection would
 * run rarely, find hundreds of megabytes, and take a fifth of the time.
 */
function dispose(chunk: Uint8Array): void {
  const { buffer, byteLength } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

const WORD_BYTES = 8;
const STEP_BYTES = 64 * 1024;
const aligned = new Uint8Array(STEP_BYTES + WORD_BYTES);

/** Copies bytes into shared memory. V8 is ten times slower unless both begin at the same offset within a word. */
export function copyToShared(bytes: Uint8Array, target: Uint8Array, at: number): void {
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    const step = bytes.subarray(from, from + STEP_BYTES);
    const place = (target.byteOffset + at + from) % WORD_BYTES;
    if (step.byteOffset % WORD_BYTES === place) target.set(step, at + from);
    else {
      aligned.set(step, place);
      target.set(aligned.subarray(place, place + step.length), at + from);
    }
  }
}

/** A slow upload keeps its memory for long; uploads that wait for memory fail after this time. */
const PATIENCE_MS = 600_000;
const NO_MEMORY = 'No memory was free for the upload for ten minutes (UPLOAD_MEMORY_BYTES).';

export interface Block {
  block: Buffer;
  /** Call this after the block is stored: other uploads wait for its memory. */
  release(): void;
}

/**
 * Reads a source in blocks of one size; the last one may be smaller. All blocks are shown to the caller before this
 * ends. While the source is idle, it holds the memory of at most one block. @throws the error of the source
 */
export async function* readBlocks(
  source: Source,
  blockBytes: number,
  memory: MemoryShare,
): AsyncGenerator<Block, void, void> {
  if (source.whole) return yield* readSlices(source, source.whole, blockBytes);
  let buffer: Buffer | undefined;
  let filled = 0;
  let shown: Promise<unknown> = Promise.resolve();
  const blockOf = (whole: Buffer): Block => {
    const block = whole.subarray(0, filled);
    const looking = source.show(block);
    shown = bothSettled(shown, looking);
    return { block, release: () => void Promise.resolve(looking).then(() => memory.give(whole)) };
  };
  for await (const chunk of source.chunks()) {
    for (let taken = 0; taken < chunk.length; ) {
      buffer ??= await source.rejectOnFailure(withTimeout(memory.take(blockBytes), PATIENCE_MS, NO_MEMORY));
      const part = chunk.subarray(taken, taken + blockBytes - filled);
      copyToShared(part, buffer, filled);
      taken += part.length;
      filled += part.length;
      if (filled < blockBytes) continue;
      // The caller may lag behind by one block; more would only use memory.
      await source.rejectOnFailure(shown);
      yield blockOf(buffer);
      buffer = undefined;
      filled = 0;
    }
  }
  if (buffer) yield blockOf(buffer);
  await shown;
}

/** Resolves when both have. Not `Promise.all`, whose results would retain those of all earlier calls. */
export async function bothSettled(first: Promise<unknown>, second: Promise<unknown> | undefined): Promise<void> {
  await first;
  await second;
}

/** Uses no upload memory: the bytes are in memory already. */
async function* readSlices(
  source: Source,
  { buffer, byteOffset, length }: Uint8Array,
  blockBytes: number,
): AsyncGenerator<Block, void, void> {
  for (let at = 0; at < length; at += blockBytes) {
    const block = Buffer.from(buffer, byteOffset + at, Math.min(blockBytes, length - at));
    const looking = source.show(block);
    yield { block, release: () => undefined };
    await looking;
  }
}
