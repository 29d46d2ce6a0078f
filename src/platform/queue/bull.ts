import type { Job, Queue, QueueOptions, WorkerOptions } from 'bullmq';
import { withTimeout } from '../process/timeout.ts';
import type { Logger } from '../telemetry/log.ts';
import { SteadyConsumer, type WatchedWorker } from './consumer.ts';
import {
  type Consumer,
  type JobData,
  LANES,
  type Lane,
  type NewJob,
  type Processor,
  type WorkQueue,
} from './work-queue.ts';

/** By age: removal by count deadlocks on PostgreSQL. */
const REMOVAL = { removeOnComplete: { age: 3600 }, removeOnFail: { age: 7 * 24 * 3600 } };
/** A job of a killed worker goes to another after at most the sum of these two. */
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 10_000;
/** Delay before a worker retries to report the outcome of a job. */
const RETRY_MS = 1_000;
/** Closing must not wait for an unreachable backend. */
const CLOSE_MS = 3_000;

export interface BullBackend {
  readonly kind: WorkQueue['kind'];
  queue(name: string, options: Omit<QueueOptions, 'connection'>): Queue;
  worker(
    name: string,
    process: (job: Job<JobData>) => Promise<void>,
    options: Omit<WorkerOptions, 'connection'>,
  ): WatchedWorker;
  check(): Promise<void>;
  forgetFuture(): Promise<void>;
  close(): Promise<void>;
}

export class BullQueue implements WorkQueue {
  readonly kind: WorkQueue['kind'];
  readonly #backend: BullBackend;
  readonly #log: Logger;
  readonly #queues = new Map<Lane, Queue>();
  readonly #consumers = new Set<SteadyConsumer>();
  readonly #options: { consumerSilenceMs?: number };

  /** @param options.consumerSilenceMs silence after which a worker is replaced; see `SteadyConsumer` */
  constructor(backend: BullBackend, log: Logger, options: { consumerSilenceMs?: number } = {}) {
    this.kind = backend.kind;
    this.#backend = backend;
    this.#log = log;
    this.#options = options;
  }

  async deliver(lane: Lane, jobs: readonly NewJob[]): Promise<void> {
    // BullMQ would hold jobs back until the backend responds; callers need the failure.
    await this.check();
    await this.#queue(lane).addBulk(
      jobs.map(({ id, name, data }) => ({
        name,
        data,
        opts: {
          jobId: id,
          // The database decides about further attempts.
          attempts: 1,
          ...REMOVAL,
        },
      })),
    );
  }

  async lost(lane: Lane, jobIds: readonly string[], beginMs: number): Promise<Set<string>> {
    await this.check();
    const queue = this.#queue(lane);
    const lost = await Promise.all(jobIds.map((id) => isLost(queue, id, beginMs)));
    return new Set(jobIds.filter((_, i) => lost[i]));
  }

  forgetFuture(): Promise<void> {
    return this.#backend.forgetFuture();
  }

  consume(lane: Lane, concurrency: number, process: Processor): Consumer {
    const complain = this.#complain(lane);
    const consumer = new SteadyConsumer({
      concurrency,
      process,
      check: () => this.check(),
      start: (take, places) => this.#startWorker(lane, take, places).on('error', complain),
      log: this.#log.child({ lane }),
      silenceMs: this.#options.consumerSilenceMs,
    });
    this.#consumers.add(consumer);
    return consumer;
  }

  #startWorker(lane: Lane, process: Processor, concurrency: number): WatchedWorker {
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
        runRetryDelay: RETRY_MS,
        // A dead worker is not the job's fault; the database counts them.
        maxStalledCount: 1_000,
        ...REMOVAL,
      },
    );
    worker.waitUntilReady().catch(() => {
      worker.broken = true;
    });
    return worker;
  }

  queues(): Queue[] {
    return LANES.map((lane) => this.#queue(lane));
  }

  check(): Promise<void> {
    return this.#backend.check();
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#consumers].map((consumer) => consumer.abandon()));
    await Promise.allSettled([...this.#queues.values()].map((queue) => within(queue.close())));
    await within(this.#backend.close());
  }

  #queue(lane: Lane): Queue {
    const known = this.#queues.get(lane);
    if (known) return known;
    const queue = this.#backend.queue(lane, {});
    queue.on('error', this.#complain(lane));
    this.#queues.set(lane, queue);
    // BullMQ never recovers from a failed first connection; a new queue may.
    queue.waitUntilReady().catch(() => {
      if (this.#queues.get(lane) === queue) this.#queues.delete(lane);
      queue.close().catch(() => undefined);
    });
    return queue;
  }

  /** Logs one line every ten seconds: while a backend is down, every command fails. */
  #complain(lane: Lane): (error: Error) => void {
    let last = 0;
    return (error) => {
      if (Date.now() - last < 10_000) return;
      last = Date.now();
      this.#log.warn({ lane, backend: this.kind, reason: error.message }, 'the queue backend does not answer');
    };
  }
}

function within(closing: Promise<void>): Promise<void> {
  return withTimeout(closing, CLOSE_MS, 'The queue backend does not close.');
}

const ENDED: readonly string[] = ['unknown', 'completed', 'failed'];

async function isLost(queue: Queue, jobId: string, beginMs: number): Promise<boolean> {
  const state = await queue.getJobState(jobId);
  if (state !== 'active') return ENDED.includes(state);
  const { processedOn = Date.now() } = (await queue.getJob(jobId)) ?? {};
  // `processedOn` may be in the future: clocks of workers and of this machine may change.
  return Math.abs(Date.now() - processedOn) > beginMs;
}
