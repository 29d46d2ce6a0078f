import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';
import { withTimeout } from '../process/timeout.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Consumer, JobData, Processor } from './work-queue.ts';

/** An idle worker asks for a job every five seconds. */
const SILENCE_MS = 20_000;
const WATCH_MS = 1_000;
/** Time to record the last jobs in the queue; the database has them already. */
const GOODBYE_MS = 3_000;

interface ConsumerOptions {
  concurrency: number;
  process: Processor;
  start(process: Processor, concurrency: number): WatchedWorker;
  check(): Promise<void>;
  log: Logger;
  /** Longest time without asking for work despite free places. */
  silenceMs?: number | undefined;
}

/**
 * A consumer that outlives its BullMQ worker. A worker that stops asking for work while the backend responds is closed
 * and replaced; its running jobs count towards the concurrency.
 */
export class SteadyConsumer implements Consumer {
  readonly #options: ConsumerOptions;
  #concurrency: number;
  #held = false;
  readonly #silenceMs: number;
  readonly #watch: NodeJS.Timeout;
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
    // A job may have arrived while the worker was closing.
    await this.#idle();
    this.#worker?.release();
    // Nothing is left to abandon when the queue closes.
    this.#worker = undefined;
  }

  setConcurrency(concurrency: number): void {
    if (concurrency === this.#concurrency) return;
    const isLess = concurrency < this.#concurrency;
    this.#concurrency = concurrency;
    this.#shareOut();
    if (!isLess || this.#held) return;
    // A BullMQ worker keeps asking for as many jobs as before, so it is replaced.
    this.hold();
    this.release();
  }

  hold(): void {
    if (this.#held || this.#closed) return;
    this.#held = true;
    const worker = this.#worker;
    this.#worker = undefined;
    // Released when its jobs have finished.
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
    // Without free places no worker is needed; the next check after a job starts one.
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
      // Places of a former worker's jobs are free now.
      if (worker !== this.#worker) this.#shareOut();
    }
  }

  /** Gives the current worker the places that jobs of former workers do not use. */
  #shareOut(): void {
    if (this.#worker && !this.#closed) this.#worker.concurrency = Math.max(1, this.#concurrency - this.#leftBehind());
  }

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
        this.#options.log.warn({ broken: lost.broken }, 'the queue worker stopped asking for work; starting another');
        void lost.abandon().catch(() => undefined);
      }
      this.#start();
    } catch {
      // Wait until the backend is back.
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

/** BullMQ retries immediately after most errors, in a loop that blocks the process. */
const PAUSE_MS = 1_000;
/** `close()` may never settle. */
const CLOSE_MS = 5_000;

/** A BullMQ worker that shows whether its loop is alive, and pauses after an error. */
export class WatchedWorker extends Worker<JobData, void> {
  /** Time of the last response to a request for a job, by `performance.now()`. */
  roundAt = performance.now();
  /** True after a failed first connection, from which BullMQ never recovers. */
  broken = false;
  /** Frees the worker's connection. */
  release: () => void = () => undefined;

  protected override async moveToActive(token: string, name?: string): Promise<Job<JobData, void>> {
    try {
      const job = await super.moveToActive(token, name);
      this.roundAt = performance.now();
      return job;
    } catch (error) {
      await sleep(PAUSE_MS);
      throw error;
    }
  }

  async abandon(): Promise<void> {
    try {
      await withTimeout(this.close(true), CLOSE_MS, 'The worker does not close.');
    } finally {
      this.release();
    }
  }
}
