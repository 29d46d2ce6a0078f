import type { Readable } from 'node:stream';
import { ObjectNotFound, type PutOptions, refused } from './port.ts';

type SourceOptions = Pick<PutOptions, 'signal' | 'onBytes' | 'disposable'>;

/**
 * What a `put` reads from, mostly a stream. Whoever finds the first fault (the sender, the caller's signal, the storage) ends
 * it for all: the stream is destroyed, so that nobody waits for a reader that has gone, and `signal` aborts with
 * that first fault.
 */
export class Source {
  readonly #body: Readable | undefined;
  /** All of it, where that is in memory already. */
  readonly whole: Uint8Array | undefined;
  readonly #options: SourceOptions;
  readonly #stop = new AbortController();
  readonly #onCallerAbort = () => this.#end(this.#options.signal?.reason);
  #refused = false;

  constructor(body: Readable | Uint8Array, options: SourceOptions) {
    if (body instanceof Uint8Array) this.whole = body;
    else this.#body = body;
    this.#options = options;
    // Never removed: an error that arrives after the last reader has gone would end the process.
    this.#body?.on('error', (error) => this.#end(error));
    if (options.signal?.aborted) this.#end(options.signal.reason);
    else options.signal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Aborts with the first fault as its reason. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The bytes as they come. A chunk is there until the next one is asked for. @throws the first fault */
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

  /** Shows the caller more of the bytes. @returns a promise while they are looked at; never rejects, but ends the source */
  show(bytes: Uint8Array): Promise<void> | undefined {
    try {
      return this.#options.onBytes?.(bytes)?.catch((error) => this.#end(error));
    } catch (error) {
      this.#end(error);
      return undefined;
    }
  }

  /** The same promise, but that a fault ends the wait. @throws the first fault */
  orFailure<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onFault = () => reject(this.signal.reason);
      if (this.signal.aborted) return onFault();
      this.signal.addEventListener('abort', onFault, { once: true });
      promise.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', onFault));
    });
  }

  /** What a caller gave is looked at; when that throws, nobody reads the stream. */
  orDestroy<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Tells the caller something; when that rejects, the fault is the caller's. */
  async tell(told: Promise<void>): Promise<void> {
    try {
      await told;
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Ends the stream because of a fault of the storage; only the first fault counts. */
  fail(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#refused = true;
    this.#end(reason);
  }

  /**
   * Runs a store's work on the source; a fault ends the source.
   *
   * @throws {StorageRefused} when that was a fault of the work; else the first fault
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
    this.#body?.destroy(reason instanceof Error ? reason : new Error('The upload was given up.', { cause: reason }));
  }
}

/**
 * Frees the memory of a chunk. What comes from a socket is a buffer of its own each time, and hardly anything else is made
 * on the way: the collector would run seldom, find hundreds of megabytes, and take a fifth of the time for them.
 */
function dispose(chunk: Uint8Array): void {
  const { buffer, byteLength } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
