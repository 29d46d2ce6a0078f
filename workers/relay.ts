import type { Database } from '#platform/database/kysely.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { periodically } from '#platform/process/periodically.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import { LANES, type Lane, type NewJob, type WorkQueue } from '#platform/queue/port.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { recordSpan } from '#platform/telemetry/tracing.ts';
import { READY_CHANNEL } from '#processing/locked-workflow.ts';
import {
  assignLanes,
  type Delivery,
  isAnythingDue,
  LEAST_ROOM,
  stillOverdue,
  takeDeliveries,
  takeOverdue,
  undeliver,
} from '#processing/outbox.ts';
import type { LaneChoice } from './lanes.ts';
import type { Part } from './part.ts';

/** Notifications are a hint; this is how long an operation waits when one was missed, or when it is tried again. */
const POLL_MS = 1_000;
/** While much ends and becomes ready, it is looked after together. */
const REST_MS = 50;
const CLOCKS_MS = 60_000;

export interface RelayOptions {
  notifications: Notifications;
  database: Database;
  queue: WorkQueue;
  lanes: LaneChoice;
  log: Logger;
  limits?: DeliveryLimits;
}

/** When the relay takes something for lost, in milliseconds. */
export interface DeliveryLimits {
  /** After this long without a claim a delivery is looked into. */
  overdueMs: number;
  /** A queue that has not answered by then is away, whatever it does with what it was given. */
  queueMs: number;
  /** A worker that has had a job for so long without claiming its operation has lost its way to the database. */
  claimMs: number;
}

const LIMITS: DeliveryLimits = { overdueMs: 15_000, queueMs: 10_000, claimMs: 10_000 };

type Delivering = Pick<RelayOptions, 'database' | 'queue' | 'lanes' | 'limits'>;

/** The relay of a process. */
export interface Relay extends Part {
  /** Says that a worker is done with a job: there may be room in a window. */
  wake(): void;
}

/**
 * Turns ready operations into jobs, at least once. While the queue does not answer, they stay ready.
 */
export function startRelay(options: RelayOptions): Relay {
  const loop = periodically('relay', { pauseMs: POLL_MS, restMs: REST_MS }, options.log, () => deliverReady(options));
  const clocks = periodically('clocks of the queue', { pauseMs: CLOCKS_MS }, options.log, () =>
    options.queue.forgetFuture(),
  );
  const listener = options.notifications.listen(READY_CHANNEL, loop.wake);
  return {
    loops: [loop, clocks],
    wake: loop.wake,
    close: async () => {
      listener.close();
      await Promise.all([loop.close(), clocks.close()]);
    },
  };
}

/**
 * Delivers what is ready, as far as there is room for it, and anew what the queue has lost.
 *
 * @returns how many jobs were handed to the queue
 */
export async function deliverReady(options: Delivering): Promise<number> {
  const { database, queue, lanes, limits = LIMITS } = options;
  if (!(await isAnythingDue(database, limits.overdueMs))) return 0;
  await assignLanes(database, lanes);
  const overdue = await takeOverdue(database, limits.overdueMs);
  await byLane(options, overdue, stillOverdue, async (lane, deliveries) => {
    const lost = await queue.lost(lane, deliveries.map(jobIdOf), limits.claimMs);
    await undeliver(
      database,
      deliveries.filter((delivery) => lost.has(jobIdOf(delivery))),
    );
  });
  let delivered = 0;
  for (;;) {
    const due = await takeDeliveries(database, LANES);
    const startedAt = Date.now();
    await byLane(options, due, undeliver, (lane, deliveries) => queue.deliver(lane, deliveries.map(toJob)));
    for (const delivery of due) trace(delivery, startedAt);
    delivered += due.length;
    if (due.length < LEAST_ROOM) return delivered;
  }
}

/** Does something with the deliveries of each lane. What is not done when one fails is taken back, to be tried soon. */
async function byLane(
  { database, limits = LIMITS }: Delivering,
  deliveries: readonly Delivery[],
  takeBack: (database: Database, deliveries: readonly Delivery[]) => Promise<void>,
  work: (lane: Lane, deliveries: readonly Delivery[]) => Promise<void>,
): Promise<void> {
  const left = new Set<string>(LANES);
  try {
    for (const lane of LANES) {
      const own = deliveries.filter((delivery) => delivery.lane === lane);
      if (own.length > 0) await withTimeout(work(lane, own), limits.queueMs, 'The queue does not answer.');
      left.delete(lane);
    }
  } catch (error) {
    await takeBack(
      database,
      deliveries.filter(({ lane }) => left.has(lane)),
    );
    throw error;
  }
}

function trace({ operation, lane, traceparent }: Delivery, startedAt: number): void {
  if (traceparent === null) return;
  const attributes = {
    'inlet.operation': operation,
    'messaging.operation.type': 'send',
    'messaging.destination.name': lane,
  };
  recordSpan(`relay ${operation}`, startedAt, { kind: 'producer', within: { traceparent }, attributes });
}

function toJob(delivery: Delivery): NewJob {
  const { operation, operationId } = delivery;
  return { id: jobIdOf(delivery), name: operation, data: { operationId } };
}

function jobIdOf({ operationId, delivery }: Delivery): string {
  return `operation-${operationId}-${delivery}`;
}
