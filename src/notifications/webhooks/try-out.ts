import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/database/kysely.ts';
import { deliveryByMessage, insertTest } from './queries.ts';
import type { DeliveryJson } from './webhook.schemas.ts';

const POLL_MS = 150;
/** Longer than one attempt. */
const TIMEOUT_MS = 20_000;

/** Queues a test message and waits for the result; undefined if the webhook does not exist. */
export async function sendTestMessage(database: Database, webhookId: number): Promise<DeliveryJson | undefined> {
  const message = await insertTest(database, webhookId);
  if (message === undefined) return undefined;
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    const delivery = await deliveryByMessage(database, message);
    // The webhook was deleted, and the message with it.
    if (!delivery) return undefined;
    if (delivery.state !== 'pending' || performance.now() > until) return delivery;
    await sleep(POLL_MS);
  }
}
