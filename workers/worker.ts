import { join } from 'node:path';
import type { NamedHost } from '../src/config/kinds.ts';
import type { Database } from '../src/database/kysely.ts';
import type { Notifications } from '../src/database/notifications.ts';
import type { DatabaseWatch } from '../src/database/watch.ts';
import type { FinishParts } from '../src/ingest/direct/finish.ts';
import type { MediaTools } from '../src/media/tools.ts';
import type { Round } from '../src/pulse.ts';
import { type Consumer, LANES, type Lane, type WorkQueue } from '../src/queue/port.ts';
import type { ObjectStorage } from '../src/storage/port.ts';
import type { StagingLedger } from '../src/storage/staging.ts';
import type { Logger } from '../src/telemetry/log.ts';
import { withTimeout } from '../src/timeout.ts';
import { TAKEN_CHANNEL } from '../src/workflows/locked-workflow.ts';
import { laneChoice, slotsOf } from './lanes.ts';
import { operations } from './operations/index.ts';
import { followOrders } from './orders.ts';
import { startReconciler } from './reconciler.ts';
import { startRelay } from './relay.ts';
import { Runner } from './runner.ts';
import { startWebhooks } from './webhooks.ts';

export interface WorkerOptions {
  /** Unique to this process. */
  name: string;
  notifications: Notifications;
  database: Database;
  /** For signs of life. */
  vital: Database;
  watch: Pick<DatabaseWatch, 'seen'>;
  queue: WorkQueue;
  storage: ObjectStorage;
  staging: StagingLedger;
  tools: MediaTools;
  publicUrl: string;
  dataDir: string;
  commandsDir: string | undefined;
  maxUploadBytes: number;
  concurrency: number;
  /** Of Inlet. */
  version: string;
  recordingGraceMs: number;
  /** How long changes are kept. */
  changesDays: number;
  /** Hosts of webhooks that may have private addresses. */
  webhookHosts: readonly NamedHost[];
  direct: FinishParts;
  log: Logger;
}

/** The relay, the consumers of all lanes and the reconciler of one process. */
export interface WorkerProcess {
  readonly loops: readonly Round[];
  /** Takes no further work, and resolves when what is running has ended. What still runs near the deadline is handed back. */
  close(deadlineMs: number): Promise<void>;
}

/** Hands back this long before the deadline, so that ending a tool and writing it down fits in. */
const HAND_BACK_MS = 5_000;

export function startWorker(options: WorkerOptions): WorkerProcess {
  const { queue, log } = options;
  const workDir = join(options.dataDir, 'work');
  const runner = new Runner({ ...options, worker: options.name, workDir, operations });
  // Whoever stops a workflow waits for its tools to end, too.
  const taken = options.notifications.listen(TAKEN_CHANNEL, (id) =>
    runner.lookAfter(id === undefined ? undefined : Number(id)),
  );
  const relay = startRelay({
    ...options,
    lanes: laneChoice(options.database, operations),
  });
  const reconciler = startReconciler({ ...options, workDir });
  const webhooks = startWebhooks({ ...options, hosts: options.webhookHosts });
  const consumers = new Map<Lane, Consumer>(
    LANES.map((lane) => [
      lane,
      queue.consume(lane, slotsOf(lane, options.concurrency), (job, report) =>
        runner.run(job.operationId, report).finally(relay.wake),
      ),
    ]),
  );
  const orders = followOrders({ ...options, database: options.vital, consumers });
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
