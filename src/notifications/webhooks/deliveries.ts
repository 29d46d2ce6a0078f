import { sql } from 'kysely';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { TEST_KIND } from './message.ts';
import type { Outcome } from './send.ts';

/** A message that this process has to deliver; `token` fences what it writes of it. */
export interface Taken {
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

/** More than a delivery can take. */
const LEASE_SECONDS = 60;
/** To one address at once, as long as it works. */
const PARALLEL = 8;
/** After so many failures in a row an address is tried by one message at a time, after pauses. */
const BREAKER = 5;
const LONGEST_BREAK_SECONDS = 600;
/** A message is tried for so long. */
const LIFETIME_SECONDS = 3 * 86_400;
/** Pauses between attempts; the last one again and again. */
const PAUSES_SECONDS = [5, 30, 120, 600, 1800, 3600, 7200, 14_400];
const PARKED_DAYS = 90;
/** So many messages are removed in one statement, in so many of them one after the other. */
const BATCH = 5_000;
const BATCHES = 20;

/**
 * Takes messages that are due, at most so many; of each address no more than it may have at once, and each in turn, first
 * those that have the fewest under way: slow ones would hold every place. Tests, which are due since ever, come before all
 * others, and also where nothing else is told.
 */
export async function takeDue(database: Database, most: number): Promise<Taken[]> {
  const { rows } = await sql<Taken>`
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

/** How long a message waits after so many attempts, in seconds, give or take a fifth. */
export function pauseAfter(attempts: number, chance = Math.random()): number {
  const pause = PAUSES_SECONDS[Math.min(attempts, PAUSES_SECONDS.length) - 1] ?? 5;
  return pause * (0.8 + 0.4 * chance);
}

/**
 * Writes down what came of an attempt: the message is delivered, tried again, or parked when it has been tried for three
 * days. The next one of its key is due then.
 */
export async function endAttempt(database: Database, taken: Taken, outcome: Outcome): Promise<void> {
  const { id, webhookId, token, attempts, kind } = taken;
  const { status, error } = outcome;
  await database.transaction().execute(async (trx) => {
    // Whoever makes messages holds it, too: none of them waits for one that has just ended.
    await trx.selectFrom('webhooks').select('id').where('id', '=', webhookId).forUpdate().execute();
    const pause = pauseAfter(attempts + 1);
    const ended = await sql<{ order_key: string; state: string }>`
      UPDATE webhook_deliveries SET attempts = attempts + 1, taken_until = NULL, last_status = ${status},
        last_error = ${error},
        state = CASE WHEN ${error === null} THEN 'delivered'
          WHEN ${kind === TEST_KIND} OR created_at < now() - make_interval(secs => ${LIFETIME_SECONDS}) THEN 'parked'
          ELSE 'pending' END,
        ended_at = CASE WHEN ${error === null} OR ${kind === TEST_KIND}
          OR created_at < now() - make_interval(secs => ${LIFETIME_SECONDS}) THEN now() END,
        next_at = now() + make_interval(secs => ${pause})
      WHERE id = ${id} AND token = ${token} AND state = 'pending' RETURNING order_key, state`.execute(trx);
    const [delivery] = ended.rows;
    // Another process has had it since.
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

/** Of some keys the first message that waits is due. */
async function releaseNext(trx: Transaction, webhookId: number, keys: readonly string[]): Promise<void> {
  await sql`
    UPDATE webhook_deliveries d SET next_at = now() FROM (
      SELECT min(id) AS id FROM webhook_deliveries
      WHERE webhook_id = ${webhookId} AND order_key = ANY(${keys}) AND state = 'pending' GROUP BY order_key
    ) AS first WHERE d.id = first.id AND d.next_at = 'infinity'`.execute(trx);
}

/**
 * Parks what nobody came to try for a day beyond its time, because its address has failed all along: one attempt each
 * would go on for years.
 *
 * @returns how many messages there were
 */
export async function parkHopeless(database: Database): Promise<number> {
  return database.transaction().execute(async (trx) => {
    await trx.selectFrom('webhooks').select('id').orderBy('id').forUpdate().execute();
    const { rows } = await sql<{ webhook_id: number; order_key: string }>`
      UPDATE webhook_deliveries SET state = 'parked', ended_at = now(),
        last_error = coalesce(last_error, 'The address has failed for so long that this was never tried.')
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

/**
 * Removes messages that ended so many days ago, a bounded number at a time; parked ones are kept for longer.
 *
 * @returns how many there were
 */
export async function sweepDeliveries(database: Database, days: number): Promise<number> {
  const delivered = await sweepEnded(database, 'delivered', days);
  return delivered + (await sweepEnded(database, 'parked', PARKED_DAYS));
}

async function sweepEnded(database: Database, state: 'delivered' | 'parked', days: number): Promise<number> {
  let removed = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT id FROM webhook_deliveries
        WHERE state <> 'pending' AND state = ${state} AND ended_at < now() - make_interval(days => ${days})
        ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`.execute(database);
    removed += Number(numAffectedRows);
    if (numAffectedRows < BATCH) break;
  }
  return removed;
}
