import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/database/kysely.ts';
import { deliveryByMessage, insertTest } from './queries.ts';
import type { DeliveryJson } from './webhook.schemas.ts';

const LOOK_MS = 150;
/** An attempt ends before. */
const PATIENCE_MS = 20_000;

/**
 * Sends a message that says nothing, by the way that all take, and waits for what comes of it; it is tried once.
 *
 * @returns undefined when there is no such webhook, or no longer
 */
export async function tryOut(database: Database, webhookId: number): Promise<DeliveryJson | undefined> {
  const message = await insertTest(database, webhookId);
  if (message === undefined) return undefined;
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const delivery = await deliveryByMessage(database, message);
    // Whoever deletes the webhook deletes this with it.
    if (!delivery) return undefined;
    if (delivery.state !== 'pending' || performance.now() > until) return delivery;
    await sleep(LOOK_MS);
  }
}
