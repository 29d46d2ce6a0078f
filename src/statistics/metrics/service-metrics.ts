import { sql } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import type { Database } from '#platform/database/kysely.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import type { WorkQueue } from '#platform/queue/work-queue.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { FIGURES, type Figure, figure, type Sample } from './figures.queries.ts';

/** Requests within this time get the same answer. */
const FRESH_MS = 5_000;
/** Limit for the queue, the database and each figure. */
const PATIENCE_MS = 3_000;
/** Limit for all figures. A scrape usually has ten seconds, and the metrics of the process must arrive in any case. */
const ALL_FIGURES_MS = 5_000;
const LATE = 'It takes too long.';

/** The sources of the figures. */
export interface ServiceMetricsParts {
  database: Database;
  /** Used only to check that the database answers. */
  vital: Database;
  queue: WorkQueue;
  log: Logger;
}

/** Metrics of the whole service from the database and the queue, the same in every process. */
export class ServiceMetrics {
  readonly #log: Logger;
  #read: Promise<string> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #figures: readonly (readonly [name: string, ask: () => Promise<Figure[]>])[];
  readonly #answer: () => Promise<unknown>;
  readonly #jobs: () => Promise<Sample[]>;

  constructor({ database, vital, queue, log }: ServiceMetricsParts) {
    this.#log = log;
    this.#figures = Object.entries(FIGURES).map(([name, read]) => [name, oneAtATime(() => read(database))]);
    this.#answer = oneAtATime(() => sql`SELECT 1`.execute(vital));
    this.#jobs = oneAtATime(() => jobCounts(queue));
  }

  /** Returns the metrics in Prometheus' text format, without those that cannot be read in time. */
  text(): Promise<string> {
    if (!this.#read || performance.now() - this.#readAt > FRESH_MS) {
      this.#readAt = performance.now();
      this.#read = this.#collect();
    }
    return this.#read;
  }

  async #collect(): Promise<string> {
    const [figures, jobs] = await Promise.all([
      this.#ofDatabase(),
      withTimeout(this.#jobs(), PATIENCE_MS, LATE).catch(() => undefined),
    ]);
    const registry = new Registry();
    const all = [
      figure('inlet_database_up', '1 while the database answers, else 0', figures ? 1 : 0),
      figure('inlet_queue_up', '1 while the queue answers, else 0', jobs ? 1 : 0),
      ...(figures ?? []),
      ...(jobs ? [{ name: 'inlet_queue_jobs', help: 'Jobs of the queue', samples: jobs }] : []),
    ];
    for (const { name, help, samples } of all) {
      const labelNames = Object.keys(samples[0]?.[0] ?? {});
      const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
      for (const [labels, value] of samples) gauge.set(labels, value);
    }
    return registry.metrics();
  }

  /** Reads the figures of the database. @returns undefined when the database does not answer */
  async #ofDatabase(): Promise<Figure[] | undefined> {
    const begun = performance.now();
    const answers = await withTimeout(this.#answer(), PATIENCE_MS, LATE).then(
      () => true,
      () => false,
    );
    if (!answers) return undefined;
    const figures: Figure[] = [];
    // One after another, so that the service keeps its connections.
    for (const [name, ask] of this.#figures) {
      const left = ALL_FIGURES_MS - (performance.now() - begun);
      if (left <= 0) break;
      try {
        figures.push(...(await withTimeout(ask(), Math.min(left, PATIENCE_MS), LATE)));
      } catch (error) {
        this.#log.warn({ figure: name, err: error }, 'cannot read a figure of the service');
      }
    }
    return figures;
  }
}

/** Shares one pending call between all callers, so that a source that hangs does not use up connections. */
function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () =>
    (asked ??= ask().finally(() => {
      asked = undefined;
    }));
}

async function jobCounts(queue: WorkQueue): Promise<Sample[]> {
  await queue.check();
  const counts = await Promise.all(
    queue.queues().map(async (each) => {
      const states = await each.getJobCounts('wait', 'active', 'delayed', 'failed');
      return Object.entries(states).map(([state, count]): Sample => [{ lane: each.name, state }, count]);
    }),
  );
  return counts.flat();
}
