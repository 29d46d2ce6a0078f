import { Gauge, Registry } from 'prom-client';
import type { Database } from '../../database/kysely.ts';
import { LANES, type WorkQueue } from '../../queue/port.ts';
import { withTimeout } from '../../timeout.ts';
import { type ServiceFigures, serviceFigures } from './figures.queries.ts';

/** Whoever asks more often gets the same again. */
const FRESH_MS = 5_000;
/** A scrape has ten seconds, usually; the process's own figures are to come in any case. */
const PATIENCE_MS = 3_000;
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

/** Figures of the whole service, as the database and the queue have them. */
export class ServiceMetrics {
  readonly #database: Database;
  readonly #queue: WorkQueue;
  #read: Promise<string> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #figures = oneAtATime(() => serviceFigures(this.#database));
  readonly #jobs = oneAtATime(() => jobCounts(this.#queue));

  constructor({ database, queue }: { database: Database; queue: WorkQueue }) {
    this.#database = database;
    this.#queue = queue;
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
      withTimeout(this.#figures(), PATIENCE_MS, LATE).catch(() => undefined),
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

function figuresOf(figures: ServiceFigures): Figure[] {
  const { storage, webhooks } = figures;
  const lanes = new Map(LANES.map((lane) => [lane as string, { ready: 0, oldest: 0 }]));
  for (const { lane, ...load } of figures.lanes) lanes.set(lane ?? UNASSIGNED, load);
  const ofLanes = (which: 'ready' | 'oldest') =>
    [...lanes].map(([lane, load]): Sample => [{ lane }, load[which]]);
  return [
    {
      name: 'inlet_ready_operations',
      help: 'Operations that could begin, up to 100,000',
      samples: ofLanes('ready'),
    },
    {
      name: 'inlet_oldest_ready_operation_seconds',
      help: 'How long the operation has waited that has waited longest',
      samples: ofLanes('oldest'),
    },
    {
      name: 'inlet_running_operations',
      help: 'Operations that workers are at',
      samples: figures.running.map(({ operation, count }): Sample => [{ operation }, count]),
    },
    one('inlet_workers', 'Processes with workers that live', figures.workers),
    one('inlet_worker_places', 'Operations of a lane that all workers together take at once', figures.places),
    one(
      'inlet_failed_workflows',
      'Workflows that failed and that nobody has tried again, up to 100,000',
      figures.failed,
    ),
    one('inlet_removable_objects', 'Objects that wait to be removed from the storage', figures.removable),
    one(
      'inlet_oldest_removable_object_seconds',
      'How long the object has waited to be removed that has waited longest',
      figures.oldestRemovable,
    ),
    {
      name: 'inlet_stored_bytes',
      help: 'Bytes in the storage, measured once in an hour: received, processed, unfinished',
      samples: Object.entries(storage ?? {}).map(([kind, bytes]): Sample => [{ kind }, bytes]),
    },
    {
      name: 'inlet_webhook_messages',
      help: 'Messages of webhooks that have not arrived: pending, or parked after all tries',
      samples: [
        [{ state: 'pending' }, webhooks.pending],
        [{ state: 'parked' }, webhooks.parked],
      ],
    },
    one(
      'inlet_oldest_webhook_message_seconds',
      'How long the message has been due that is latest',
      webhooks.oldest,
    ),
    one('inlet_database_bytes', 'Size of the database', figures.databaseBytes),
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
