import { sql } from 'kysely';
import { type Change, type ChangeFilter, parseChangeFilter } from '#changes/change.ts';
import { lockPosition, movePosition, numberChanges, READ_AT_ONCE, readChanges } from '#changes/read-changes.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { messageOf } from './webhook-message.ts';

export const READER = 'webhooks';
export const DELIVERIES_CHANNEL = 'inlet_webhooks';

const UNHEARD = 1_000;
/** The approximate number of messages per transaction. */
const MESSAGES_AT_ONCE = 20_000;
const FEWEST_CHANGES = 50;

interface Receiver {
  id: number;
  since: number;
  wants: ChangeFilter;
}

/**
 * Creates messages for new changes, one per webhook with a matching filter. The messages and the position in the log
 * are written in one transaction, so no change is lost or sent twice. @returns the number of messages
 */
export async function fanOut(database: Database): Promise<number> {
  if (await skipUnheard(database)) return 0;
  await numberChanges(database);
  if (!(await isBehind(database))) return 0;
  let made = 0;
  for (;;) {
    const { messages, more } = await database.transaction().execute(fanOutBatch);
    made += messages;
    if (!more) return made;
  }
}

/** Without active webhooks, moves the position forward for cleanup, but not for every change. */
async function skipUnheard(database: Database): Promise<boolean> {
  const { rows } = await sql<{ unheard: boolean }>`
    WITH receivers AS (SELECT id FROM webhooks WHERE active LIMIT 1), skipped AS (
      UPDATE changes_readers SET position = last FROM changes_counter
      WHERE name = ${READER} AND position < last - ${UNHEARD} AND NOT EXISTS (SELECT FROM receivers)
    )
    SELECT NOT EXISTS (SELECT FROM receivers) AS unheard`.execute(database);
  return rows[0]?.unheard ?? false;
}

/** True if there are unread changes; checked before anything is locked. */
async function isBehind(database: Database): Promise<boolean> {
  const { rows } = await sql<{ behind: boolean }>`
    SELECT last > coalesce((SELECT position FROM changes_readers WHERE name = ${READER}), -1) AS behind
    FROM changes_counter`.execute(database);
  return rows[0]?.behind ?? true;
}

async function fanOutBatch(trx: Transaction): Promise<{ messages: number; more: boolean }> {
  // `recordAttempt` takes the same lock, so that a message cannot miss the end of its predecessor.
  const rows = await trx
    .selectFrom('webhooks')
    .select(['id', 'since', 'filter'])
    .where('active', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute();
  if (rows.length === 0) return { messages: 0, more: false };
  const receivers = rows.map(({ id, since, filter }) => ({ id, since, wants: parseChangeFilter(filter) }));
  const position = await lockPosition(trx, READER);
  if (position === undefined) throw new Error('The position of the webhooks was not found.');
  const from = Math.max(position, Math.min(...receivers.map(({ since }) => since)));
  const most = changesAtOnce(receivers.length);
  const changes = await readChanges(trx, from, most);
  const last = changes.at(-1)?.number ?? from;
  if (last > position) await movePosition(trx, READER, last);
  const messages = receivers.flatMap((receiver) => messagesFor(receiver, changes));
  await insertMessages(trx, messages);
  return { messages: messages.length, more: changes.length === most };
}

/** Returns the number of changes to read: each may become one message per webhook. */
function changesAtOnce(receivers: number): number {
  return Math.min(READ_AT_ONCE, Math.max(FEWEST_CHANGES, Math.floor(MESSAGES_AT_ONCE / receivers)));
}

function messagesFor({ id, since, wants }: Receiver, changes: readonly Change[]) {
  return changes
    .filter((change) => change.number > since && wants(change))
    .map((change) => ({ webhook_id: id, order_key: orderKey(change), ...messageOf(id, change) }));
}

/** Messages with the same key are delivered in order. */
function orderKey({ eventId, seriesId, playlistId, agentId }: Change): string {
  if (eventId !== null) return `event ${eventId}`;
  if (playlistId !== null) return `playlist ${playlistId}`;
  return seriesId === null ? `agent ${agentId}` : `series ${seriesId}`;
}

/** Inserts messages; the first of each key is due. @param due `-infinity` precedes all other messages */
export async function insertMessages(
  trx: Transaction,
  messages: readonly { webhook_id: number; order_key: string; id: string; kind: string; body: string }[],
  due: 'now' | '-infinity' = 'now',
): Promise<void> {
  if (messages.length === 0) return;
  const rows = JSON.stringify(messages.map((message, place) => ({ ...message, place })));
  await sql`
    WITH fresh AS (
      SELECT *, row_number() OVER (PARTITION BY webhook_id, order_key ORDER BY place) AS turn
      FROM jsonb_to_recordset(${rows}::jsonb) AS (webhook_id bigint, order_key text, id text, kind text, body text, place integer)
    ), made AS (
      INSERT INTO webhook_deliveries (webhook_id, order_key, message_id, kind, body, next_at)
      SELECT webhook_id, order_key, id, kind, body,
        CASE WHEN turn = 1 AND NOT EXISTS (SELECT FROM webhook_deliveries before
          WHERE before.webhook_id = fresh.webhook_id AND before.order_key = fresh.order_key AND before.state = 'pending')
          THEN ${due}::timestamptz ELSE 'infinity' END
      FROM fresh ORDER BY place
      RETURNING id
    )
    SELECT pg_notify(${DELIVERIES_CHANNEL}, '') FROM (SELECT count(*) FROM made) AS counted`.execute(trx);
}
