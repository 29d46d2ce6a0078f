import { withTimeout } from '../process/timeout.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Consumer, JobData } from './port.ts';
import type { WatchedWorker } from './worker.ts';

/** A worker with a free place asks for a job every five seconds. */
const SILENCE_MS = 20_000;
const WATCH_MS = 1_000;
/** To write down in the queue that the last jobs have ended; the database knows already. */
const GOODBYE_MS = 3_000;

/** What a consumer is made of. */
export interface ConsumerOptions {
  concurrency: number;
  process(data: JobData, report: (percent: number) => void): Promise<void>;
  /** Starts a worker on the queue that takes so many jobs at once. */
  start(process: ConsumerOptions['process'], concurrency: number): WatchedWorker;
  /** Rejects while the backend does not answer. */
  check(): Promise<void>;
  log: Logger;
  /** How long a worker may not ask for work although it could. */
  silenceMs?: number | undefined;
}

/**
 * A consumer that outlives its BullMQ worker. One that no longer asks for work, although the backend answers, is
 * closed and another takes its place; jobs under way go on and count among those at once.
 */
export class SteadyConsumer implements Consumer {
  readonly #options: ConsumerOptions;
  #concurrency: number;
  #held = false;
  readonly #silenceMs: number;
  readonly #watch: NodeJS.Timeout;
  /** Jobs under way, by the worker that took them. */
  readonly #running = new Map<Promise<void>, WatchedWorker | undefined>();
  #worker: WatchedWorker | undefined;
  #heardAt = performance.now();
  #looking = false;
  #closed = false;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.#concurrency = options.concurrency;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#start();
    this.#watch = setInterval(() => void this.#look(), Math.min(WATCH_MS, this.#silenceMs));
    this.#watch.unref();
  }

  async close(): Promise<void> {
    this.#stop();
    const closing = this.#worker?.close();
    await this.#idle();
    if (closing) await withTimeout(closing, GOODBYE_MS, 'The queue does not answer.').catch(() => undefined);
    // One that was on its way when the worker was told to close.
    await this.#idle();
    this.#worker?.release();
  }

  setConcurrency(concurrency: number): void {
    if (concurrency === this.#concurrency) return;
    const isLess = concurrency < this.#concurrency;
    this.#concurrency = concurrency;
    this.#shareOut();
    if (!isLess || this.#held) return;
    // A worker goes on asking for as many jobs as it was asking for: another takes its place.
    this.hold();
    this.release();
  }

  hold(): void {
    if (this.#held || this.#closed) return;
    this.#held = true;
    const worker = this.#worker;
    this.#worker = undefined;
    // It ends when its jobs have.
    void worker?.close().then(
      () => worker.release(),
      () => undefined,
    );
  }

  release(): void {
    if (!this.#held || this.#closed) return;
    this.#held = false;
    this.#start();
  }

  /** Ends without waiting for the jobs under way. */
  async abandon(): Promise<void> {
    this.#stop();
    await this.#worker?.abandon();
  }

  async #idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.keys());
  }

  #stop(): void {
    this.#closed = true;
    clearInterval(this.#watch);
  }

  #start(): void {
    const free = this.#concurrency - this.#running.size;
    // Whoever has no place free needs no worker; it comes with the next look after a job has ended.
    if (free < 1) return;
    this.#heardAt = performance.now();
    const worker = this.#options.start((data, report) => this.#run(worker, data, report), free);
    this.#worker = worker;
  }

  async #run(worker: WatchedWorker, data: JobData, report: (percent: number) => void): Promise<void> {
    const job = this.#options.process(data, report);
    this.#running.set(job, worker);
    try {
      await job;
    } finally {
      this.#running.delete(job);
      this.#heardAt = performance.now();
      // The places of a former worker's jobs are free for the present one.
      if (worker !== this.#worker) this.#shareOut();
    }
  }

  /** Gives the present worker the places that jobs of former ones do not have. */
  #shareOut(): void {
    if (this.#worker && !this.#closed) this.#worker.concurrency = Math.max(1, this.#concurrency - this.#leftBehind());
  }

  /** How many jobs of former workers are still under way. */
  #leftBehind(): number {
    return [...this.#running.values()].filter((worker) => worker !== this.#worker).length;
  }

  async #look(): Promise<void> {
    if (this.#looking || this.#closed || this.#seemsWell()) return;
    this.#looking = true;
    try {
      await this.#options.check();
      if (this.#closed || this.#seemsWell()) return;
      const lost = this.#worker;
      this.#worker = undefined;
      if (lost) {
        this.#options.log.warn(
          { broken: lost.broken },
          'the queue worker had stopped asking for work; starting another',
        );
        void lost.abandon().catch(() => undefined);
      }
      this.#start();
    } catch {
      // Nothing helps before the backend is back.
    } finally {
      this.#looking = false;
    }
  }

  #seemsWell(): boolean {
    if (this.#held || this.#running.size >= this.#concurrency) return true;
    if (!this.#worker || this.#worker.broken) return false;
    return performance.now() - Math.max(this.#heardAt, this.#worker.roundAt) < this.#silenceMs;
  }
}
