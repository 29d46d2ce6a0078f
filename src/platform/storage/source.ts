import type { Readable } from 'node:stream';
import { ObjectNotFound, type PutOptions, refused } from './port.ts';

type SourceOptions = Pick<PutOptions, 'signal' | 'onBytes' | 'disposable'>;

/**
 * The input of a `put`, mostly a stream. The first error of the sender, the caller's signal or the storage ends it for
 * all: the stream is destroyed, so that nothing waits for a reader that is gone, and `signal` aborts with that error.
 */
export class Source {
  readonly #body: Readable | undefined;
  /** The complete bytes, if they are in memory already. */
  readonly whole: Uint8Array | undefined;
  readonly #options: SourceOptions;
  readonly #stop = new AbortController();
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

  /** Aborts with the first error as its reason. */
  get signal(): AbortSignal {
    return this.#stop.signal;
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

  /**
   * Shows more of the bytes to the caller. @returns a promise while they are in use; an error ends the source instead
   * of rejecting it
   */
  show(bytes: Uint8Array): Promise<void> | undefined {
    try {
      return this.#options.onBytes?.(bytes)?.catch((error) => this.#end(error));
    } catch (error) {
      this.#end(error);
      return undefined;
    }
  }

  /** Returns the promise, but rejects on an error of the source. @throws the first error */
  orFailure<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onFault = () => reject(this.signal.reason);
      if (this.signal.aborted) return onFault();
      this.signal.addEventListener('abort', onFault, { once: true });
      promise.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', onFault));
    });
  }

  /** Validates the caller's input; an error destroys the stream. */
  orDestroy<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Waits for the caller; its rejection counts as an error of the caller. */
  async tell(told: Promise<void>): Promise<void> {
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

  /**
   * Runs the work of a storage on the source; an error ends the source.
   *
   * @throws {StorageRefused} when the work failed; else the first error
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.fail(error);
      const { reason } = this.signal;
      throw this.#refused && !(reason instanceof ObjectNotFound) ? refused(reason) : reason;
    } finally {
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
 * Frees the memory of a chunk. Each chunk from a socket has its own buffer, and little else is allocated: garbage
 * collection would run rarely, find hundreds of megabytes, and take a fifth of the time.
 */
function dispose(chunk: Uint8Array): void {
  const { buffer, byteLength } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
