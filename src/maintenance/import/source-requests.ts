import { SourceError } from './catalogue-source.ts';
import { abortable, pause, RequestPace, Slots } from './request-limits.ts';

/** A time in which the source does not answer. */
export interface Outage {
  since: Date;
  /** A clause such as `it responded with status 503`. */
  reason: string;
}

/** A request failed in a way that may pass. */
export class TemporaryFault extends Error {
  override name = 'TemporaryFault';
  readonly retryAfterMs: number | undefined;
  /** True if the source limits requests. */
  readonly isThrottled: boolean;
  readonly status: number | undefined;
  constructor(reason: string, answer?: { status: number; retryAfterMs: number | undefined }) {
    super(reason);
    this.status = answer?.status;
    this.retryAfterMs = answer?.retryAfterMs;
    this.isThrottled = answer?.status === TOO_MANY_REQUESTS;
  }
}

const TOO_MANY_REQUESTS = 429;

export interface RequestLimits {
  /** JSON requests at the same time, and files that are open at the same time. */
  concurrency: number;
  requestsPerSecond: number;
  /** Longest silence in an answer. */
  idleMs: number;
  /** The first pause before another attempt; pauses grow. */
  retryMs: number;
}

/** Attempts of one item while others answer. */
export const MAX_ATTEMPTS = 5;
/** Outages in which one request may end before it counts as their cause. */
const MAX_OUTAGES = 10;
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_HOLD_MS = 3_600_000;

/** Spaces and repeats the requests to a source, and waits while the source does not answer. */
export class SourceRequests {
  readonly limits: RequestLimits;
  readonly #pace: RequestPace;
  readonly #json: Slots;
  readonly #files: Slots;
  readonly #signal: AbortSignal;
  readonly #onWait: (outage: Outage | undefined) => void;
  /** Asks for something that a working source always answers. */
  #check: (() => Promise<unknown>) | undefined;
  #outage: Outage | undefined;
  #recovery: Promise<boolean> | undefined;

  constructor(limits: RequestLimits, signal: AbortSignal, onWait: (outage: Outage | undefined) => void) {
    this.limits = limits;
    this.#pace = new RequestPace(limits.requestsPerSecond);
    this.#json = new Slots(limits.concurrency);
    this.#files = new Slots(limits.concurrency);
    this.#signal = signal;
    this.#onWait = onWait;
  }

  /** Waits for outages from now on. @param check one attempt to ask for what a working source always answers */
  waitForOutages(check: () => Promise<unknown>): void {
    this.#check = check;
  }

  /** Waits for the turn of one request. */
  turn(signal: AbortSignal): Promise<void> {
    return this.#pace.take(signal);
  }

  /** Runs attempts in a slot for JSON. @param fault a clause that begins the error @throws {SourceError} */
  async json<T>(fault: string, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    const release = await this.#json.acquire(signal);
    try {
      return await this.#retry(fault, signal, attempt, true);
    } finally {
      release();
    }
  }

  /**
   * Runs attempts in a slot for files, which the caller releases.
   *
   * @param fault a clause that begins the error
   * @param isOwn true for a file of the source itself, which is waited for
   * @throws {SourceError}
   */
  async file<T>(fault: string, signal: AbortSignal, attempt: () => Promise<T>, isOwn: boolean) {
    const release = await this.#files.acquire(signal);
    try {
      return { file: await this.#retry(fault, signal, attempt, isOwn), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #retry<T>(fault: string, signal: AbortSignal, attempt: () => Promise<T>, isOwn: boolean): Promise<T> {
    const count = { failures: 0, outages: 0, throttled: 0 };
    for (;;) {
      try {
        const result = await attempt();
        if (isOwn) this.#report(undefined);
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof TemporaryFault)) throw error;
        if (isOwn && error.isThrottled) {
          count.throttled += 1;
          this.#hold(error, count.throttled);
          continue;
        }
        const wasAway = isOwn && (await this.#waitWhileAway(signal));
        if (wasAway) count.outages += 1;
        else count.failures += 1;
        if (count.failures === MAX_ATTEMPTS || count.outages === MAX_OUTAGES)
          throw new SourceError(`${fault}: ${error.message}.`, error.status);
        if (wasAway) continue;
        const longest = isOwn ? LONGEST_HOLD_MS : LONGEST_PAUSE_MS;
        await pause(Math.min(longest, this.#pauseMs(count.failures, error)), signal);
      }
    }
  }

  /** Returns a pause that grows, and that is as long as the answer demands. */
  #pauseMs(failures: number, { retryAfterMs = 0 }: TemporaryFault): number {
    const own = this.limits.retryMs * 2 ** Math.max(0, failures - 1);
    return Math.max(retryAfterMs, Math.min(own, LONGEST_PAUSE_MS));
  }

  /** Lets every request wait as long as the source demands. */
  #hold(fault: TemporaryFault, repeated: number): void {
    this.#pace.hold(Math.min(this.#pauseMs(repeated, fault), LONGEST_HOLD_MS));
    this.#report(fault.message);
  }

  /** Waits until the source answers. @returns true if it did not answer */
  async #waitWhileAway(signal: AbortSignal): Promise<boolean> {
    if (!this.#check) return false;
    this.#recovery ??= this.#recover(this.#check).finally(() => {
      this.#recovery = undefined;
    });
    // All that wait may have been aborted.
    this.#recovery.catch(() => undefined);
    return abortable(this.#recovery, signal);
  }

  async #recover(check: () => Promise<unknown>): Promise<boolean> {
    for (let failures = 0; ; failures++) {
      try {
        await check();
        this.#report(undefined);
        return failures > 0;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof TemporaryFault)) return failures > 0;
        this.#report(error.message);
        await pause(Math.min(this.#pauseMs(failures + 1, error), LONGEST_HOLD_MS), this.#signal);
      }
    }
  }

  /** Reports the begin and the end of an outage. */
  #report(reason: string | undefined): void {
    if (reason === undefined && !this.#outage) return;
    this.#outage = reason === undefined ? undefined : { since: this.#outage?.since ?? new Date(), reason };
    this.#onWait(this.#outage);
  }
}
