import { hostname } from 'node:os';
import type { Database } from '#platform/database/kysely.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { periodically } from '#platform/process/periodically.ts';
import type { Consumer, Lane } from '#platform/queue/port.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { SETTINGS_CHANNEL } from '#processing/lane-settings.ts';
import { forgetProcess, signOfLife } from '#processing/worker-processes.ts';
import { slotsOf } from './lanes.ts';
import type { Part } from './part.ts';

/** Between two signs of life; a setting that nobody was told of waits for so long, too. */
const ALIVE_MS = 5_000;

/** Shows that this process lives, and does with its consumers what operators want. */
export function followOrders(options: {
  notifications: Notifications;
  database: Database;
  name: string;
  version: string;
  concurrency: number;
  consumers: ReadonlyMap<Lane, Consumer>;
  log: Logger;
}): Part {
  const { notifications, database, name, version, concurrency, consumers, log } = options;
  const runtime = process.versions.deno ? `Deno ${process.versions.deno}` : `Node ${process.versions.node}`;
  const facts = { name, host: hostname(), pid: process.pid, runtime, version, concurrency };
  let drained = false;
  const loop = periodically('signs of life', { pauseMs: ALIVE_MS }, log, async () => {
    const orders = await signOfLife(database, facts);
    if (orders.draining !== drained) log.info({ draining: orders.draining }, 'draining was changed');
    drained = orders.draining;
    for (const [lane, consumer] of consumers) {
      consumer.setConcurrency(orders.concurrency[lane] ?? slotsOf(lane, concurrency));
      if (drained) consumer.hold();
      else consumer.release();
    }
  });
  const listener = notifications.listen(SETTINGS_CHANNEL, loop.wake);
  return {
    loops: [loop],
    close: async () => {
      listener.close();
      await loop.close();
      await forgetProcess(database, name).catch(() => undefined);
    },
  };
}
