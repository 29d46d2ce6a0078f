import type { Database } from '#platform/database/kysely.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { startLoop } from '#platform/process/loop.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import { LANES, type Lane, type NewJob, type WorkQueue } from '#platform/queue/work-queue.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { recordSpan } from '#platform/telemetry/tracing.ts';
import { READY_CHANNEL } from '#processing/locked-workflow.ts';
import {
  assignLanes,
  type Delivery,
  isAnythingDue,
  LEAST_ROOM,
  resetDeliveries,
  takeDeliveries,
  takeOverdue,
} from '#processing/outbox.ts';
import type { LaneChoice } from './lane-choice.ts';
import { componentOf, type WorkerComponent } from './worker-component.ts';

/** The wait of a ready operation whose notification was missed, or of a retry. */
const POLL_MS = 1_000;
/** Batches operations that become ready in quick succession. */
const REST_MS = 50;
const CLOCKS_MS = 60_000;

interface RelayOptions {
  notifications: Notifications;
  database: Database;
  queue: WorkQueue;
  lanes: LaneChoice;
  log: Logger;
  limits?: DeliveryLimits;
}

/** After how many milliseconds the relay acts on silence. */
interface DeliveryLimits {
  /** A delivery without a claim is checked. */
  overdueMs: number;
  /** A queue that has not answered counts as away, whatever it has done. */
  queueMs: number;
  /** A worker that has not claimed the operation of its job counts as cut off from the database. */
  claimMs: number;
}

const LIMITS: DeliveryLimits = { overdueMs: 15_000, queueMs: 10_000, claimMs: 10_000 };

type Delivering = Pick<RelayOptions, 'database' | 'queue' | 'lanes' | 'limits'>;

interface Relay extends WorkerComponent {
  /** Signals that a worker has finished a job, so its lane may have room. */
  wake(): void;
}

/** Turns ready operations into jobs, at least once. While the queue does not answer, they stay ready. */
export function startRelay(options: RelayOptions): Relay {
  const { queue, notifications, log } = options;
  const loop = startLoop('relay', { pauseMs: POLL_MS, restMs: REST_MS }, log, () => deliverReady(options));
  const clocks = startLoop('clocks of the queue', { pauseMs: CLOCKS_MS }, log, () => queue.forgetFuture());
  return { ...componentOf([loop, clocks], [notifications.listen(READY_CHANNEL, loop.wake)]), wake: loop.wake };
}

/**
 * Delivers ready operations while their lanes have room, and delivers again what the queue has lost.
 *
 * @returns the number of jobs given to the queue
 */
export async function deliverReady(options: Delivering): Promise<number> {
  const { database, queue, lanes, limits = LIMITS } = options;
  if (!(await isAnythingDue(database, limits.overdueMs))) return 0;
  await assignLanes(database, lanes);
  const overdue = await takeOverdue(database, limits.overdueMs);
  await byLane(options, overdue, 'overdue', async (lane, deliveries) => {
    const lost = await queue.lost(lane, deliveries.map(jobIdOf), limits.claimMs);
    const undelivered = deliveries.filter((delivery) => lost.has(jobIdOf(delivery)));
    await resetDeliveries(database, undelivered, 'due');
  });
  let delivered = 0;
  for (;;) {
    const due = await takeDeliveries(database, LANES);
    const startedAt = Date.now();
    await byLane(options, due, 'due', (lane, deliveries) => queue.deliver(lane, deliveries.map(toJob)));
    for (const delivery of due) trace(delivery, startedAt);
    delivered += due.length;
    if (due.length < LEAST_ROOM) return delivered;
  }
}

/**
 * Runs `work` on the deliveries of each lane. If one lane fails, resets the deliveries that are left, for an early
 * retry.
 */
async function byLane(
  { database, limits = LIMITS }: Delivering,
  deliveries: readonly Delivery[],
  resetTo: 'due' | 'overdue',
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
    const remaining = deliveries.filter(({ lane }) => left.has(lane));
    await resetDeliveries(database, remaining, resetTo);
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
  return { id: jobIdOf(delivery), name: delivery.operation, data: { operationId: delivery.operationId } };
}

function jobIdOf({ operationId, delivery }: Delivery): string {
  return `operation-${operationId}-${delivery}`;
}
