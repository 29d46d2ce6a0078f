import { setTimeout as sleep } from 'node:timers/promises';

/** Spaces requests, so that no second has more than the limit. */
export class RequestPace {
  readonly #gapMs: number;
  #next = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(perSecond: number) {
    this.#gapMs = 1000 / perSecond;
  }

  /** Waits for the turn of a request. @throws the reason of the signal */
  async take(signal: AbortSignal): Promise<void> {
    const turn = this.#turn.then(() => this.#wait(signal));
    this.#turn = turn.catch(() => undefined);
    await abortable(turn, signal);
  }

  /** Sends no further request for so long. */
  hold(ms: number): void {
    this.#next = Math.max(this.#next, performance.now() + ms);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    for (let left = this.#left(); left > 0; left = this.#left()) await pause(left, signal);
    signal.throwIfAborted();
    // Counted from the request itself: turns that come late do not come together.
    this.#next = performance.now() + this.#gapMs;
  }

  #left(): number {
    return this.#next - performance.now();
  }
}

/** Limits what is done at the same time. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot. @returns releases it @throws the reason of the signal */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await abortable(promise, signal).catch((error) => {
        // The slot may have been handed over in the same moment.
        if (!this.#waiting.delete(resolve)) this.#release();
        throw error;
      });
    }
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  /** Hands a slot to the next that waits. */
  #release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** Waits. @throws the reason of the signal */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.ceil(ms), undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** Settles like the promise, or rejects with the reason of the signal. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
