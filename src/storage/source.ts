import type { Readable } from 'node:stream';

/**
 * The stream a `put` reads from. Whoever finds the first fault (the sender, the caller's signal, the storage) ends
 * it for all: the stream is destroyed, so that nobody waits for a reader that has gone, and `signal` aborts with
 * that first fault.
 */
export class Source {
  readonly body: Readable;
  readonly #stop = new AbortController();
  readonly #callerSignal: AbortSignal | undefined;
  readonly #onCallerAbort = () => this.fail(this.#callerSignal?.reason);

  constructor(body: Readable, callerSignal?: AbortSignal) {
    this.body = body;
    this.#callerSignal = callerSignal;
    // Never removed: an error that arrives after the last reader has gone would end the process.
    body.on('error', (error) => this.fail(error));
    if (callerSignal?.aborted) this.fail(callerSignal.reason);
    else callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Aborts with the first fault as its reason. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends the stream; the first call decides the reason. */
  fail(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#stop.abort(reason);
    this.body.destroy(
      reason instanceof Error ? reason : new Error('The upload was given up.', { cause: reason }),
    );
  }

  /** Runs a store's work on the source; a fault ends the source and rejects with the first fault. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.fail(error);
      throw this.signal.reason;
    } finally {
      this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
    }
  }
}
