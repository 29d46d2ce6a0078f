import { CHANGES_CHANNEL } from '#changes/record-changes.ts';
import { DELIVERIES_CHANNEL, fanOut } from '#notifications/webhooks/fan-out.ts';
import { type ClaimedDelivery, claimDueDeliveries, recordAttempt } from '#notifications/webhooks/webhook-deliveries.ts';
import { sendMessage } from '#notifications/webhooks/webhook-message.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Notifications } from '#platform/database/notifications.ts';
import { startLoop } from '#platform/process/loop.ts';
import type { NamedHost } from '#platform/setting/value-kinds.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { componentOf, type WorkerComponent } from './worker-component.ts';

/** The pause between polls, which find changes whose notification was missed, and messages that are due again. */
const POLL_MS = 5_000;
/** The pause after a round, so that changes in quick succession are handled in one batch. */
const REST_MS = 200;
const MAX_CONCURRENT = 32;

/** Sends changes to webhooks. */
export function startWebhooks(options: {
  notifications: Notifications;
  database: Database;
  /** Hosts that may have private addresses. */
  hosts: readonly NamedHost[];
  log: Logger;
}): WorkerComponent {
  const { notifications, database, hosts, log } = options;
  const underWay = new Set<Promise<void>>();
  const deliver = async () => {
    for (;;) {
      const free = MAX_CONCURRENT - underWay.size;
      const taken = free > 0 ? await claimDueDeliveries(database, free) : [];
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
  const deliverOne = async (taken: ClaimedDelivery) => {
    const outcome = await sendMessage(taken, { id: taken.messageId, body: taken.body }, hosts);
    const facts = { webhook: taken.webhookId, message: taken.messageId, status: outcome.status };
    if (outcome.error === null) log.debug(facts, 'webhook delivered');
    else log.warn({ ...facts, reason: outcome.error }, 'webhook delivery failed');
    // An outcome that cannot be stored means another delivery, with the same identifier.
    await recordAttempt(database, taken, outcome).catch((error) =>
      log.warn({ ...facts, err: error }, 'the outcome of a webhook delivery could not be stored'),
    );
  };
  const queueing = startLoop('messages for webhooks', { pauseMs: POLL_MS, restMs: REST_MS }, log, () =>
    fanOut(database),
  );
  const delivery = startLoop('delivery to webhooks', { pauseMs: POLL_MS }, log, deliver);
  return componentOf(
    [queueing, delivery],
    [notifications.listen(CHANGES_CHANNEL, queueing.wake), notifications.listen(DELIVERIES_CHANNEL, delivery.wake)],
    () => Promise.all(underWay),
  );
}
