import { CHANGES_CHANNEL } from '#changes/record.ts';
import { endAttempt, type Taken, takeDue } from '#notifications/webhooks/deliveries.ts';
import { DELIVERIES_CHANNEL, fanOut } from '#notifications/webhooks/fan-out.ts';
import { send } from '#notifications/webhooks/send.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { periodically } from '#platform/process/periodically.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { Part } from './part.ts';

/** Notifications are a hint; this is how long a change, or a message that is due again, waits without one. */
const POLL_MS = 5_000;
/** The log is read for many changes together where there are many. */
const REST_MS = 200;
/** Messages on their way from one process. */
const AT_ONCE = 32;

/** Tells webhooks of changes. */
export function startWebhooks(options: {
  notifications: Notifications;
  database: Database;
  /** Hosts that may have private addresses. */
  hosts: readonly NamedHost[];
  log: Logger;
}): Part {
  const { notifications, database, hosts, log } = options;
  const underWay = new Set<Promise<void>>();
  const deliver = async () => {
    for (;;) {
      const free = AT_ONCE - underWay.size;
      const taken = free > 0 ? await takeDue(database, free) : [];
      if (taken.length === 0) return;
      for (const message of taken) {
        const done = deliverOne(message).finally(() => {
          underWay.delete(done);
          delivery.wake();
        });
        underWay.add(done);
      }
    }
  };
  const deliverOne = async (taken: Taken) => {
    const outcome = await send(taken, { id: taken.messageId, body: taken.body }, hosts);
    const facts = { webhook: taken.webhookId, message: taken.messageId, status: outcome.status };
    if (outcome.error === null) log.debug(facts, 'a webhook was told');
    else log.warn({ ...facts, reason: outcome.error }, 'a webhook could not be told');
    // What could not be written down is delivered again, under the same identifier.
    await endAttempt(database, taken, outcome).catch((error) =>
      log.warn({ ...facts, err: error }, 'what came of a delivery could not be written down'),
    );
  };
  const telling = periodically('messages for webhooks', { pauseMs: POLL_MS, restMs: REST_MS }, log, () =>
    fanOut(database),
  );
  const delivery = periodically('delivery to webhooks', { pauseMs: POLL_MS }, log, deliver);
  const listeners = [
    notifications.listen(CHANGES_CHANNEL, telling.wake),
    notifications.listen(DELIVERIES_CHANNEL, delivery.wake),
  ];
  return {
    loops: [telling, delivery],
    close: async () => {
      for (const listener of listeners) listener.close();
      await Promise.all([telling.close(), delivery.close()]);
      await Promise.all(underWay);
    },
  };
}
