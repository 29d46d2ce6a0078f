import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { lastNumber, numberChanges } from '#changes/read-changes.ts';
import { formatInstant } from '#metadata/date-time.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { DELIVERIES_CHANNEL, insertMessages } from './fan-out.ts';
import {
  type DELIVERY_STATES,
  type DeliveryJson,
  MOST_WEBHOOKS,
  TOO_MANY_WEBHOOKS,
  WEBHOOK_MISSING,
  type WebhookJson,
} from './webhook.schemas.ts';
import { testMessage } from './webhook-message.ts';

const COUNTED = 1000;
const REMOVED_AT_ONCE = 5_000;

interface WebhookRow extends Omit<WebhookJson, 'created' | 'last_success' | 'last_error'> {
  created: Date;
  last_success: Date | null;
  last_error: string | null;
}

/** Returns all webhooks by number, or one of them. */
export async function readWebhooks(db: Queryable, id?: number): Promise<WebhookJson[]> {
  const count = (state: string) => sql<number>`(SELECT count(*) FROM (SELECT FROM webhook_deliveries d
    WHERE d.webhook_id = webhooks.id AND d.state = ${state} LIMIT ${COUNTED}) AS counted)`;
  const { rows } = await sql<WebhookRow>`
    SELECT id AS identifier, url, filter, active, created_at AS created, failures, last_success, last_error,
      ${count('pending')} AS pending, ${count('parked')} AS parked
    FROM webhooks WHERE ${id ?? null}::bigint IS NULL OR id = ${id ?? null} ORDER BY id LIMIT ${MOST_WEBHOOKS}`.execute(
    db,
  );
  return rows.map(({ created, last_success, last_error, ...webhook }) => ({
    ...webhook,
    created: formatInstant(created),
    ...(last_success !== null && { last_success: formatInstant(last_success) }),
    ...(last_error !== null && webhook.failures > 0 && { last_error }),
  }));
}

/** Adds a webhook, which receives changes from now on. @returns its number */
export async function createWebhook(
  database: Database,
  webhook: { url: string; secret: string; filter: string; by: string },
): Promise<number> {
  const { count } = await database
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= MOST_WEBHOOKS) throw TOO_MANY_WEBHOOKS();
  await numberChanges(database);
  const { by, ...values } = webhook;
  const since = await lastNumber(database);
  const { id } = await database
    .insertInto('webhooks')
    .values({ ...values, created_by: by, since })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

type WebhookEdit = Partial<Pick<WebhookJson, 'url' | 'secret' | 'filter' | 'active'>>;

/** Changes a webhook. Undefined fields stay unchanged. */
export async function changeWebhook(database: Database, id: number, edit: WebhookEdit): Promise<void> {
  await numberChanges(database);
  const last = sql<number>`(SELECT last FROM changes_counter)`;
  await database
    .updateTable('webhooks')
    // The change may fix the reason of the failures.
    .set({ ...edit, failures: 0, paused_until: sql`'-infinity'::timestamptz` })
    // Changes during inactivity are not sent.
    .set(edit.active ? { since: sql`CASE WHEN active THEN since ELSE ${last} END` } : {})
    .where('id', '=', id)
    .execute();
  await sql`SELECT pg_notify(${DELIVERIES_CHANNEL}, '')`.execute(database);
}

/** Deletes a webhook after its messages, which may be millions. @returns false if it does not exist */
export async function deleteWebhook(database: Database, id: number): Promise<boolean> {
  await database.updateTable('webhooks').set({ active: false }).where('id', '=', id).execute();
  while ((await deleteMessages(database, id)) === REMOVED_AT_ONCE);
  const { numDeletedRows } = await database.deleteFrom('webhooks').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

async function deleteMessages(database: Database, webhookId: number): Promise<number> {
  return database.transaction().execute(async (trx) => {
    // The global lock order: webhook, then message.
    await trx.selectFrom('webhooks').select('id').where('id', '=', webhookId).forUpdate().execute();
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT id FROM webhook_deliveries WHERE webhook_id = ${webhookId} LIMIT ${REMOVED_AT_ONCE})`.execute(trx);
    return Number(numAffectedRows);
  });
}

export async function deliveriesOf(
  db: Queryable,
  webhookId: number,
  { state, limit, offset }: { state?: (typeof DELIVERY_STATES)[number]; limit: number; offset: number },
): Promise<DeliveryJson[]> {
  let query = selectDeliveries(db).where('webhook_id', '=', webhookId);
  if (state) query = query.where('state', '=', state);
  const rows = await query.orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return rows.map(deliveryJson);
}

function selectDeliveries(db: Queryable) {
  return db
    .selectFrom('webhook_deliveries')
    .select(['id', 'message_id', 'kind', 'state', 'attempts', 'last_status', 'last_error', 'created_at', 'ended_at'])
    .select(sql<Date | null>`CASE WHEN state = 'pending' AND isfinite(next_at) THEN next_at END`.as('next'));
}

type DeliveryRow = Awaited<ReturnType<ReturnType<typeof selectDeliveries>['execute']>>[number];

function deliveryJson(row: DeliveryRow): DeliveryJson {
  return {
    identifier: row.id,
    message: row.message_id,
    kind: row.kind,
    state: row.state as DeliveryJson['state'],
    attempts: row.attempts,
    ...(row.last_status !== null && { status: row.last_status }),
    ...(row.last_error !== null && { error: row.last_error }),
    created: formatInstant(row.created_at),
    ...(row.next !== null && { next: formatInstant(row.next) }),
    ...(row.ended_at !== null && { ended: formatInstant(row.ended_at) }),
  };
}

/** Retries a parked message for three more days. @returns false if no such message is parked */
export async function retryDelivery(database: Database, webhookId: number, id: number): Promise<boolean> {
  const retried = await database.transaction().execute(async (trx) => {
    await trx.selectFrom('webhooks').select('id').where('id', '=', webhookId).forUpdate().execute();
    const { numAffectedRows = 0n } = await sql`
      UPDATE webhook_deliveries d SET state = 'pending', attempts = 0, created_at = now(), ended_at = NULL,
        next_at = CASE WHEN EXISTS (SELECT FROM webhook_deliveries other WHERE other.webhook_id = d.webhook_id
          AND other.order_key = d.order_key AND other.state = 'pending') THEN 'infinity'::timestamptz ELSE now() END
      WHERE id = ${id} AND webhook_id = ${webhookId} AND state = 'parked'`.execute(trx);
    return numAffectedRows;
  });
  await sql`SELECT pg_notify(${DELIVERIES_CHANNEL}, '')`.execute(database);
  return retried > 0n;
}

/** Queues a test message. @returns its identifier; undefined if the webhook does not exist */
export async function insertTest(database: Database, webhookId: number): Promise<string | undefined> {
  const message = testMessage(webhookId);
  const row = { ...message, webhook_id: webhookId, order_key: message.id };
  return database.transaction().execute(async (trx) => {
    const found = await trx.selectFrom('webhooks').select('id').where('id', '=', webhookId).forUpdate().execute();
    if (found.length === 0) return undefined;
    await insertMessages(trx, [row], '-infinity');
    return message.id;
  });
}

async function deliveryByMessage(db: Queryable, messageId: string): Promise<DeliveryJson | undefined> {
  const row = await selectDeliveries(db).where('message_id', '=', messageId).executeTakeFirst();
  return row && deliveryJson(row);
}

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
