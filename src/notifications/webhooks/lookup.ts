import type { Database } from '#platform/database/kysely.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { readWebhooks } from './queries.ts';
import { WEBHOOK_MISSING, type WebhookJson } from './webhook.schemas.ts';

export const WEBHOOK_PARAMS = { webhook_id: pathParameter('Number of the webhook.', '7') };

export async function requireWebhook(database: Database, id: string): Promise<WebhookJson> {
  const [webhook] = await readWebhooks(database, parseId(id));
  if (!webhook) throw missingWebhook(id);
  return webhook;
}

export const missingWebhook = (id: string) => WEBHOOK_MISSING(id.slice(0, 100));

/** Parses an identifier; 0, which matches nothing, for invalid text. */
export function parseId(text = ''): number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
}
