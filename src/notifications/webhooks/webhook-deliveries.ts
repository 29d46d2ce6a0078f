import { sql } from 'kysely';
import { deleteInBatches } from '#platform/database/delete-in-batches.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { type Outcome, TEST_KIND } from './webhook-message.ts';

/** A message claimed by this process; `token` fences its later writes. */
export interface ClaimedDelivery {
  id: number;
  webhookId: number;
  url: string;
  secret: string;
  messageId: string;
  kind: string;
  body: string;
  attempts: number;
  token: number;
}

/** Longer than any delivery attempt. */
const LEASE_SECONDS = 60;
/** Concurrent messages per address while it works. */
const PARALLEL = 8;
/** After this many consecutive failures, an address gets one message at a time, with pauses. */
const BREAKER = 5;
const LONGEST_BREAK_SECONDS = 600;
/** The time a message is retried. */
const LIFETIME_SECONDS = 3 * 86_400;
/** Pauses between attempts; the last one repeats. */
const PAUSES_SECONDS = [5, 30, 120, 600, 1800, 3600, 7200, 14_400];
const PARKED_DAYS = 90;
/** The number of messages per DELETE. */
const BATCH = 5_000;

/**
 * Claims due messages up to a limit. Each address gets at most its share, and addresses with the fewest messages in
 * progress come first, so that slow ones do not take all places. Test messages come first, even for inactive webhooks.
 */
export async function claimDueDeliveries(database: Database, most: number): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    WITH due AS (
      SELECT next.id, next.next_at,
        under_way.count + row_number() OVER (PARTITION BY w.id ORDER BY next.next_at, next.id) AS turn
      FROM webhooks w CROSS JOIN LATERAL (
        SELECT count(*) FROM webhook_deliveries taken
        WHERE taken.webhook_id = w.id AND taken.state = 'pending' AND taken.taken_until >= now()
      ) AS under_way CROSS JOIN LATERAL (
        SELECT d.id, d.next_at FROM webhook_deliveries d
        WHERE d.webhook_id = w.id AND d.state = 'pending'
          AND d.next_at <= CASE WHEN w.active AND w.paused_until <= now() THEN now() ELSE '-infinity' END
          AND (d.taken_until IS NULL OR d.taken_until < now())
        ORDER BY d.next_at, d.id
        LIMIT greatest(0, CASE WHEN w.failures >= ${BREAKER} THEN 1 ELSE ${PARALLEL} END - under_way.count)
        FOR UPDATE SKIP LOCKED
      ) AS next
      ORDER BY next_at > '-infinity', turn, next_at LIMIT ${most}
    )
    UPDATE webhook_deliveries d SET taken_until = now() + make_interval(secs => ${LEASE_SECONDS}), token = d.token + 1
    FROM due, webhooks w WHERE d.id = due.id AND w.id = d.webhook_id
    RETURNING d.id, w.id AS "webhookId", w.url, w.secret, d.message_id AS "messageId", d.kind, d.body, d.attempts,
      d.token`.execute(database);
  return rows;
}

/** Returns the pause after a number of attempts in seconds, with 20 % jitter. */
function pauseAfter(attempts: number): number {
  const pause = PAUSES_SECONDS[Math.min(attempts, PAUSES_SECONDS.length) - 1] ?? 5;
  return pause * (0.8 + 0.4 * Math.random());
}

/** Records an attempt. If the message is delivered or parked, the next one of its key becomes due. */
export async function recordAttempt(database: Database, taken: ClaimedDelivery, outcome: Outcome): Promise<void> {
  const { id, webhookId, token, attempts, kind } = taken;
  const { status, error } = outcome;
  await database.transaction().execute(async (trx) => {
    // Inserting messages takes the same lock, so no message waits for one that just finished.
    await trx.selectFrom('webhooks').select('id').where('id', '=', webhookId).forUpdate().execute();
    const pause = pauseAfter(attempts + 1);
    const finished = await sql<{ order_key: string; state: string }>`
      UPDATE webhook_deliveries SET attempts = attempts + 1, taken_until = NULL, last_status = ${status},
        last_error = ${error},
        state = CASE WHEN ${error === null} THEN 'delivered'
          WHEN ${kind === TEST_KIND} OR created_at < now() - make_interval(secs => ${LIFETIME_SECONDS}) THEN 'parked'
          ELSE 'pending' END,
        ended_at = CASE WHEN ${error === null} OR ${kind === TEST_KIND}
          OR created_at < now() - make_interval(secs => ${LIFETIME_SECONDS}) THEN now() END,
        next_at = now() + make_interval(secs => ${pause})
      WHERE id = ${id} AND token = ${token} AND state = 'pending' RETURNING order_key, state`.execute(trx);
    const [delivery] = finished.rows;
    // Another process has claimed the message since.
    if (!delivery) return;
    await sql`
      UPDATE webhooks SET failures = CASE WHEN ${error === null} THEN 0 ELSE failures + 1 END,
        active = active AND ${status !== 410},
        last_success = CASE WHEN ${error === null} THEN now() ELSE last_success END,
        last_error = CASE WHEN ${error === null} THEN last_error ELSE ${error}::text END,
        paused_until = CASE WHEN ${error === null} OR failures + 1 < ${BREAKER} THEN '-infinity'
          ELSE now() + make_interval(secs => least(${LONGEST_BREAK_SECONDS}, 5 * power(2, least(failures + 1 - ${BREAKER}, 16)))) END
      WHERE id = ${webhookId}`.execute(trx);
    if (delivery.state !== 'pending') await releaseNext(trx, webhookId, [delivery.order_key]);
  });
}

/** Makes the first waiting message of each key due. */
async function releaseNext(trx: Transaction, webhookId: number, keys: readonly string[]): Promise<void> {
  await sql`
    UPDATE webhook_deliveries d SET next_at = now() FROM (
      SELECT min(id) AS id FROM webhook_deliveries
      WHERE webhook_id = ${webhookId} AND order_key = ANY(${keys}) AND state = 'pending' GROUP BY order_key
    ) AS first WHERE d.id = first.id AND d.next_at = 'infinity'`.execute(trx);
}

/** Parks messages one day past their retry time: their address failed all the time. @returns their number */
export async function parkExpiredDeliveries(database: Database): Promise<number> {
  return database.transaction().execute(async (trx) => {
    await trx.selectFrom('webhooks').select('id').orderBy('id').forUpdate().execute();
    const { rows } = await sql<{ webhook_id: number; order_key: string }>`
      UPDATE webhook_deliveries SET state = 'parked', ended_at = now(),
        last_error = coalesce(last_error, 'Not tried: the address failed until the retry time was over.')
      WHERE id IN (SELECT id FROM webhook_deliveries WHERE state = 'pending'
          AND created_at < now() - make_interval(secs => ${LIFETIME_SECONDS + 86_400})
          AND (taken_until IS NULL OR taken_until < now()) ORDER BY id LIMIT 5000)
      RETURNING webhook_id, order_key`.execute(trx);
    for (const [webhookId, parked] of Map.groupBy(rows, ({ webhook_id }) => webhook_id)) {
      await releaseNext(trx, webhookId, [...new Set(parked.map(({ order_key }) => order_key))]);
    }
    return rows.length;
  });
}

/** Deletes a limited number of messages that finished this number of days ago; parked ones are kept longer. */
export async function sweepDeliveries(database: Database, days: number): Promise<number> {
  const delivered = await sweepFinished(database, 'delivered', days);
  return delivered + (await sweepFinished(database, 'parked', PARKED_DAYS));
}

function sweepFinished(database: Database, state: 'delivered' | 'parked', days: number): Promise<number> {
  const statement = sql`
    DELETE FROM webhook_deliveries WHERE id IN (
      SELECT id FROM webhook_deliveries
      WHERE state <> 'pending' AND state = ${state} AND ended_at < now() - make_interval(days => ${days})
      ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;
  return deleteInBatches(database, BATCH, statement);
}
