import type { Job, Queue, QueueOptions, Worker, WorkerOptions } from 'bullmq';
import type { Logger } from '../telemetry.ts';
import {
  type Consumer,
  type JobData,
  LANES,
  type Lane,
  type NewJob,
  type Processor,
  type WorkQueue,
} from './port.ts';

const HOUR_SECONDS = 3600;
/** A job of a killed worker is given to another after at most the sum of these two. */
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 10_000;

/** How BullMQ reaches its backend; everything else is the same for all of them. */
export interface BullBackend {
  readonly kind: WorkQueue['kind'];
  queue(name: string, options: Omit<QueueOptions, 'connection'>): Queue;
  worker(
    name: string,
    process: (job: Job<JobData>) => Promise<void>,
    options: Omit<WorkerOptions, 'connection'>,
  ): Worker;
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The work queue over BullMQ. */
export class BullQueue implements WorkQueue {
  readonly kind: WorkQueue['kind'];
  readonly #backend: BullBackend;
  readonly #log: Logger;
  readonly #queues = new Map<Lane, Queue>();
  readonly #workers = new Set<Worker>();

  constructor(backend: BullBackend, log: Logger) {
    this.kind = backend.kind;
    this.#backend = backend;
    this.#log = log;
  }

  async deliver(lane: Lane, jobs: readonly NewJob[]): Promise<void> {
    // BullMQ would hold the jobs back until the backend answers; the caller wants to know that it does not.
    await this.check();
    await this.#queue(lane).addBulk(
      jobs.map(({ id, name, data }) => ({
        name,
        data,
        opts: {
          jobId: id,
          // The database decides about further attempts.
          attempts: 1,
          // By age: removal by count deadlocks on the PostgreSQL backend.
          removeOnComplete: { age: HOUR_SECONDS },
          removeOnFail: { age: 7 * 24 * HOUR_SECONDS },
        },
      })),
    );
  }

  async holds(lane: Lane, jobId: string): Promise<boolean> {
    await this.check();
    const state = await this.#queue(lane).getJobState(jobId);
    return state !== 'unknown' && state !== 'completed' && state !== 'failed';
  }

  consume(lane: Lane, concurrency: number, process: Processor): Consumer {
    const worker = this.#backend.worker(
      lane,
      (job) =>
        process(job.data, (percent) => {
          job
            .updateProgress(percent)
            .catch((error: Error) => this.#log.debug({ err: error }, 'job progress was not stored'));
        }),
      {
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        // A dead worker is no fault of the job; the database counts them.
        maxStalledCount: 1_000,
        removeOnComplete: { age: HOUR_SECONDS },
        removeOnFail: { age: 7 * 24 * HOUR_SECONDS },
      },
    );
    worker.on('error', this.#complain(lane));
    this.#workers.add(worker);
    return {
      close: async () => {
        await worker.close();
        this.#workers.delete(worker);
      },
    };
  }

  queues(): Queue[] {
    return LANES.map((lane) => this.#queue(lane));
  }

  check(): Promise<void> {
    return this.#backend.check();
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#workers].map((worker) => worker.close(true)));
    await Promise.allSettled([...this.#queues.values()].map((queue) => queue.close()));
    await this.#backend.close();
  }

  #queue(lane: Lane): Queue {
    let queue = this.#queues.get(lane);
    if (!queue) {
      queue = this.#backend.queue(lane, {});
      queue.on('error', this.#complain(lane));
      this.#queues.set(lane, queue);
    }
    return queue;
  }

  /** While a backend is away every command fails the same way: one line says it, not thousands. */
  #complain(lane: Lane): (error: Error) => void {
    let last = 0;
    return (error) => {
      if (Date.now() - last < 10_000) return;
      last = Date.now();
      this.#log.warn(
        { lane, backend: this.kind, reason: error.message },
        'the queue backend does not answer',
      );
    };
  }
}
