import { sql } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import type { Database } from '#platform/database/kysely.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import { LANES, type WorkQueue } from '#platform/queue/port.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { FIGURES, type ServiceFigures } from './figures.queries.ts';

/** Whoever asks more often gets the same again. */
const FRESH_MS = 5_000;
/** For each part, and each of its figures. */
const PATIENCE_MS = 3_000;
/** A scrape has ten seconds, usually; the process's own figures are to come in any case. */
const ALL_FIGURES_MS = 5_000;
const LATE = 'It takes too long.';
/** Stands for what the relay has not looked at yet. */
const UNASSIGNED = 'unassigned';

/** A value, and the labels that tell it from others of its name. */
type Sample = [labels: Record<string, string>, value: number];
interface Figure {
  name: string;
  help: string;
  samples: Sample[];
}

/** What the figures are read from. */
export interface ServiceMetricsParts {
  database: Database;
  /** For the question whether it answers. */
  vital: Database;
  queue: WorkQueue;
  log: Logger;
}

/** Figures of the whole service, as the database and the queue have them. */
export class ServiceMetrics {
  readonly #log: Logger;
  #read: Promise<string> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #figures: readonly (readonly [name: string, ask: () => Promise<unknown>])[];
  readonly #answer: () => Promise<unknown>;
  readonly #jobs: () => Promise<Sample[]>;

  constructor({ database, vital, queue, log }: ServiceMetricsParts) {
    this.#log = log;
    this.#figures = Object.entries(FIGURES).map(([name, read]) => [name, oneAtATime<unknown>(() => read(database))]);
    this.#answer = oneAtATime(() => sql`SELECT 1`.execute(vital));
    this.#jobs = oneAtATime(() => jobCounts(queue));
  }

  /** In Prometheus' text format. Of a part that does not answer in time only that is told. */
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
      one('inlet_database_up', 'Whether the database answers', figures ? 1 : 0),
      one('inlet_queue_up', 'Whether the queue answers', jobs ? 1 : 0),
      ...(figures ? figuresOf(figures) : []),
      ...(jobs ? [{ name: 'inlet_queue_jobs', help: 'Jobs of the queue', samples: jobs }] : []),
    ];
    for (const { name, help, samples } of all) {
      const labelNames = Object.keys(samples[0]?.[0] ?? {});
      const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
      for (const [labels, value] of samples) gauge.set(labels, value);
    }
    return registry.metrics();
  }

  /** @returns undefined when the database does not answer; what cannot be read in time is missing */
  async #ofDatabase(): Promise<Partial<ServiceFigures> | undefined> {
    const begun = performance.now();
    const answers = await withTimeout(this.#answer(), PATIENCE_MS, LATE).then(
      () => true,
      () => false,
    );
    if (!answers) return undefined;
    const figures: Record<string, unknown> = {};
    // One after the other: they are not to take the connections of those who do the work.
    for (const [name, ask] of this.#figures) {
      const left = ALL_FIGURES_MS - (performance.now() - begun);
      if (left <= 0) break;
      try {
        figures[name] = await withTimeout(ask(), Math.min(left, PATIENCE_MS), LATE);
      } catch (error) {
        this.#log.warn({ figure: name, err: error }, 'a figure of the service cannot be read');
      }
    }
    return figures;
  }
}

/** Whoever asks while nobody has answered yet waits for the same answer: a part that hangs is not to use up connections. */
function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () =>
    (asked ??= ask().finally(() => {
      asked = undefined;
    }));
}

function one(name: string, help: string, value: number): Figure {
  return { name, help, samples: [[{}, value]] };
}

function figuresOf(figures: Partial<ServiceFigures>): Figure[] {
  const { lanes, running, workers, failed, removable, storage, webhooks, databaseBytes } = figures;
  return [
    ...(lanes ? figuresOfLanes(lanes) : []),
    ...figure(running, (counts) => ({
      name: 'inlet_running_operations',
      help: 'Operations that workers are at',
      samples: counts.map(({ operation, count }): Sample => [{ operation }, count]),
    })),
    ...figure(workers, ({ processes }) => one('inlet_workers', 'Processes with workers that live', processes)),
    ...figure(workers, ({ places }) =>
      one('inlet_worker_places', 'Operations of a lane that all workers together take at once', places),
    ),
    ...figure(failed, ({ count }) =>
      one('inlet_failed_workflows', 'Workflows that failed and that nobody has tried again, up to 100,000', count),
    ),
    ...figure(removable, ({ count }) =>
      one('inlet_removable_objects', 'Objects that wait to be removed from the storage', count),
    ),
    ...figure(removable, ({ oldest }) =>
      one(
        'inlet_oldest_removable_object_seconds',
        'How long the object has waited to be removed that has waited longest',
        oldest,
      ),
    ),
    ...figure(storage, ([sizes]) => ({
      name: 'inlet_stored_bytes',
      help: 'Bytes in the storage, measured once in an hour: received, processed, unfinished',
      samples: Object.entries(sizes ?? {}).map(([kind, bytes]): Sample => [{ kind }, bytes]),
    })),
    ...figure(webhooks, ({ pending, parked }) => ({
      name: 'inlet_webhook_messages',
      help: 'Messages of active webhooks that have not arrived: pending, or parked after all tries',
      samples: [
        [{ state: 'pending' }, pending],
        [{ state: 'parked' }, parked],
      ],
    })),
    ...figure(webhooks, ({ oldest }) =>
      one(
        'inlet_oldest_webhook_message_seconds',
        'How long the message to an active webhook has waited that has waited longest',
        oldest,
      ),
    ),
    ...figure(databaseBytes, ({ bytes }) => one('inlet_database_bytes', 'Size of the database', bytes)),
  ];
}

/** None of what could not be read. */
function figure<T>(read: T | undefined, of: (read: T) => Figure): Figure[] {
  return read === undefined ? [] : [of(read)];
}

function figuresOfLanes(read: ServiceFigures['lanes']): Figure[] {
  const lanes = new Map(LANES.map((lane) => [lane as string, { ready: 0, oldest: 0 }]));
  for (const { lane, ...load } of read) lanes.set(lane ?? UNASSIGNED, load);
  const each = (which: 'ready' | 'oldest') => [...lanes].map(([lane, load]): Sample => [{ lane }, load[which]]);
  return [
    {
      name: 'inlet_ready_operations',
      help: 'Operations that could begin, up to 100,000',
      samples: each('ready'),
    },
    {
      name: 'inlet_oldest_ready_operation_seconds',
      help: 'How long the operation has waited that has waited longest',
      samples: each('oldest'),
    },
  ];
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
