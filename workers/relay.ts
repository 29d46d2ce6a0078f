import type { Database } from '../src/database/kysely.ts';
import { listen } from '../src/database/listen.ts';
import { LANES, type Lane, type NewJob, type WorkQueue } from '../src/queue/port.ts';
import type { Logger } from '../src/telemetry.ts';
import { READY_CHANNEL } from '../src/workflows/advance.ts';
import { type Delivery, takeDeliveries, undeliver } from '../src/workflows/outbox.ts';
import type { LaneChoice } from './lanes.ts';
import { type Part, periodically } from './periodically.ts';

/** Notifications are a hint; this is how long an operation waits when one was missed, or when it is tried again. */
const POLL_MS = 1_000;

export interface RelayOptions {
  databaseUrl: string;
  database: Database;
  queue: WorkQueue;
  lanes: LaneChoice;
  log: Logger;
}

/**
 * Turns ready operations into jobs, at least once. While the queue does not answer, they stay ready.
 */
export function startRelay(options: RelayOptions): Part {
  const loop = periodically('relay', POLL_MS, options.log, () => deliverReady(options));
  const listener = listen(options.databaseUrl, READY_CHANNEL, options.log, loop.wake);
  return {
    loops: [loop],
    close: async () => {
      await listener.close();
      await loop.close();
    },
  };
}

/** Delivers everything that is ready. @returns how many jobs were handed to the queue */
export async function deliverReady({ database, queue, lanes }: Omit<RelayOptions, 'log' | 'databaseUrl'>) {
  let delivered = 0;
  for (;;) {
    const deliveries = await takeDeliveries(database);
    if (deliveries.length === 0) return delivered;
    try {
      const chosen = await lanes(deliveries);
      for (const lane of LANES) {
        const due = deliveries.filter(({ operationId }) => chosen.get(operationId) === lane);
        const lost = await lostJobs(queue, lane, due);
        await undeliver(database, lost);
        const jobs = due.filter(({ overdue }) => !overdue).map(toJob);
        if (jobs.length > 0) await queue.deliver(lane, jobs);
        delivered += jobs.length;
      }
    } catch (error) {
      await undeliver(
        database,
        deliveries.filter(({ overdue }) => !overdue).map(({ operationId }) => operationId),
      );
      throw error;
    }
  }
}

/** Overdue deliveries whose job the queue no longer has. The others wait for a free worker. */
async function lostJobs(queue: WorkQueue, lane: Lane, deliveries: Delivery[]): Promise<number[]> {
  const lost: number[] = [];
  for (const delivery of deliveries) {
    if (delivery.overdue && !(await queue.holds(lane, toJob(delivery).id))) lost.push(delivery.operationId);
  }
  return lost;
}

function toJob({ operationId, operation, delivery }: Delivery): NewJob {
  return { id: `operation-${operationId}-${delivery}`, name: operation, data: { operationId } };
}
