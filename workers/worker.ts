import { join } from 'node:path';
import type { Config } from '#platform/config/config.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import { type Consumer, LANES, type Lane, type WorkQueue } from '#platform/queue/work-queue.ts';
import type { MonitoredLoop } from '#platform/telemetry/pulse.ts';
import { TAKEN_CHANNEL } from '#processing/locked-workflow.ts';
import { createLaneChoice, slotsOf } from './lane-choice.ts';
import { Runner, type RunnerOptions } from './operation-runner.ts';
import { operations } from './operations/all-operations.ts';
import { startRelay } from './queue-relay.ts';
import { type ReconcilerParts, startReconciler } from './reconciler.ts';
import { startWebhooks } from './webhook-sender.ts';
import { applyWorkerSettings } from './worker-settings.ts';

interface WorkerParts
  extends ReconcilerParts,
    Pick<RunnerOptions, 'database' | 'vital' | 'storage' | 'staging' | 'tools' | 'log'> {
  config: ReconcilerParts['config'] & Pick<Config, 'dataDir' | 'operations' | 'webhookHosts' | 'workerConcurrency'>;
  notifications: Notifications;
  /** Unique to this process. */
  processName: string;
  queue: WorkQueue;
}

/** The relay, the consumers of all lanes, the reconciler and the webhooks of one process. */
interface WorkerProcess {
  readonly loops: readonly MonitoredLoop[];
  /**
   * Takes no more work and resolves when the running operations have finished. Hands back what still runs near the
   * deadline.
   */
  close(deadlineMs: number): Promise<void>;
}

/** Time before the deadline at which operations are handed back: enough to stop a tool and write to the database. */
const HAND_BACK_MS = 5_000;

export function startWorker(parts: WorkerParts, version: string): WorkerProcess {
  const { config, queue, log, processName: name } = parts;
  const { workerConcurrency: concurrency } = config;
  const workDir = join(config.dataDir, 'work');
  const site = config.operations;
  const runner = new Runner({ ...parts, worker: name, site, workDir, operations });
  // A client that stops a workflow waits for its tools to stop.
  const taken = parts.notifications.listen(TAKEN_CHANNEL, (id) =>
    runner.checkLease(id === undefined ? undefined : Number(id)),
  );
  const relay = startRelay({ ...parts, lanes: createLaneChoice(parts.database, operations) });
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
  const settings = applyWorkerSettings({ ...parts, database: parts.vital, name, version, concurrency, consumers });
  return {
    loops: [...relay.loops, ...reconciler.loops, ...webhooks.loops, ...settings.loops],
    close: async (deadlineMs) => {
      runner.announceShutdown();
      // Within the deadline too: a loop may be waiting for a silent database.
      const ended = Promise.all(
        [...consumers.values(), relay, reconciler, webhooks, settings, taken].map((each) => each.close()),
      );
      const handBack = () => {
        log.info('handing back the running operations');
        runner.handBack();
      };
      const patience = setTimeout(handBack, Math.max(0, deadlineMs - HAND_BACK_MS));
      try {
        await withTimeout(
          ended,
          deadlineMs,
          'Some jobs did not end in time. Another worker will take their operations.',
        );
      } finally {
        clearTimeout(patience);
      }
    },
  };
}
