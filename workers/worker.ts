import { join } from 'node:path';
import type { Config } from '#platform/config/config.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import { type Consumer, LANES, type Lane, type WorkQueue } from '#platform/queue/port.ts';
import type { Round } from '#platform/telemetry/pulse.ts';
import { TAKEN_CHANNEL } from '#processing/locked-workflow.ts';
import { laneChoice, slotsOf } from './lanes.ts';
import { operations } from './operations/index.ts';
import { followOrders } from './orders.ts';
import { type ReconcilerParts, startReconciler } from './reconciler.ts';
import { startRelay } from './relay.ts';
import { Runner, type RunnerOptions } from './runner.ts';
import { startWebhooks } from './webhooks.ts';

/** What a worker is made of. */
export interface WorkerParts
  extends ReconcilerParts,
    Pick<RunnerOptions, 'database' | 'vital' | 'storage' | 'staging' | 'tools' | 'log'> {
  config: ReconcilerParts['config'] & Pick<Config, 'dataDir' | 'operations' | 'webhookHosts' | 'workerConcurrency'>;
  notifications: Notifications;
  /** Unique to this process. */
  processName: string;
  queue: WorkQueue;
  storage: RunnerOptions['storage'];
}

/** The relay, the consumers of all lanes and the reconciler of one process. */
export interface WorkerProcess {
  readonly loops: readonly Round[];
  /** Takes no further work, and resolves when what is running has ended. What still runs near the deadline is handed back. */
  close(deadlineMs: number): Promise<void>;
}

/** Hands back this long before the deadline, so that ending a tool and writing it down fits in. */
const HAND_BACK_MS = 5_000;

/** @param version of Inlet */
export function startWorker(parts: WorkerParts, version: string): WorkerProcess {
  const { config, queue, log, processName: name } = parts;
  const { workerConcurrency: concurrency } = config;
  const workDir = join(config.dataDir, 'work');
  const site = config.operations;
  const runner = new Runner({ ...parts, worker: name, site, workDir, operations });
  // Whoever stops a workflow waits for its tools to end, too.
  const taken = parts.notifications.listen(TAKEN_CHANNEL, (id) =>
    runner.lookAfter(id === undefined ? undefined : Number(id)),
  );
  const relay = startRelay({ ...parts, lanes: laneChoice(parts.database, operations) });
  const reconciler = startReconciler(parts, workDir);
  const webhooks = startWebhooks({ ...parts, hosts: config.webhookHosts });
  const consumers = new Map<Lane, Consumer>(
    LANES.map((lane) => [
      lane,
      queue.consume(lane, slotsOf(lane, concurrency), (job, report) =>
        runner.run(job.operationId, report).finally(relay.wake),
      ),
    ]),
  );
  const orders = followOrders({ ...parts, database: parts.vital, name, version, concurrency, consumers });
  return {
    loops: [...relay.loops, ...reconciler.loops, ...webhooks.loops, ...orders.loops],
    close: async (deadlineMs) => {
      runner.willEnd();
      // The loops as well: one may wait for a database that says nothing.
      const ended = Promise.all(
        [...consumers.values(), relay, reconciler, webhooks, orders, taken].map((part) => part.close()),
      );
      const patience = setTimeout(
        () => {
          log.info('handing back what is still running');
          runner.handBack();
        },
        Math.max(0, deadlineMs - HAND_BACK_MS),
      );
      try {
        await withTimeout(
          ended,
          deadlineMs,
          'Jobs did not end in time; their operations will be taken from this worker.',
        );
      } finally {
        clearTimeout(patience);
      }
    },
  };
}
