import { hostname } from 'node:os';
import type { Database } from '#platform/database/kysely.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { startLoop } from '#platform/process/loop.ts';
import type { Consumer, Lane } from '#platform/queue/work-queue.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { SETTINGS_CHANNEL } from '#processing/lane-settings.ts';
import { forgetProcess, reportWorkerProcess } from '#processing/worker-processes.ts';
import { slotsOf } from './lane-choice.ts';
import { componentOf, type WorkerComponent } from './worker-component.ts';

/** The pause between reports, and the longest delay of a setting whose notification was missed. */
const ALIVE_MS = 5_000;

/** Reports this process as alive and applies the operators' settings to its consumers. */
export function applyWorkerSettings(options: {
  notifications: Notifications;
  database: Database;
  name: string;
  version: string;
  concurrency: number;
  consumers: ReadonlyMap<Lane, Consumer>;
  log: Logger;
}): WorkerComponent {
  const { notifications, database, name, version, concurrency, consumers, log } = options;
  const runtime = process.versions.deno ? `Deno ${process.versions.deno}` : `Node ${process.versions.node}`;
  const facts = { name, host: hostname(), pid: process.pid, runtime, version, concurrency };
  let drained = false;
  const loop = startLoop('signs of life', { pauseMs: ALIVE_MS }, log, async () => {
    const settings = await reportWorkerProcess(database, facts);
    if (settings.draining !== drained) log.info({ draining: settings.draining }, 'draining was changed');
    drained = settings.draining;
    for (const [lane, consumer] of consumers) {
      consumer.setConcurrency(settings.concurrency[lane] ?? slotsOf(lane, concurrency));
      if (drained) consumer.hold();
      else consumer.release();
    }
  });
  return componentOf([loop], [notifications.listen(SETTINGS_CHANNEL, loop.wake)], () =>
    forgetProcess(database, name).catch(() => undefined),
  );
}
