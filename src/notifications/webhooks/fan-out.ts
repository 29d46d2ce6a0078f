import { sql } from 'kysely';
import type { Change } from '#changes/change.ts';
import { type ChangeFilter, parseChangeFilter } from '#changes/filter.ts';
import { numberChanges, READ_AT_ONCE, readChanges } from '#changes/read.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { messageOf } from './message.ts';

/** The name under which it is kept how far the log has been read for webhooks. */
export const READER = 'webhooks';
/** The channel on which those who deliver hear that there is something to deliver. */
export const DELIVERIES_CHANNEL = 'inlet_webhooks';

const UNHEARD = 1_000;
/** So many messages are made in one transaction, more or less. */
const MESSAGES_AT_ONCE = 20_000;
const FEWEST_CHANGES = 50;

interface Receiver {
  id: number;
  since: number;
  wants: ChangeFilter;
}

/**
 * Makes messages of what has been written to the log since the last time, one for each webhook that wants to hear of it.
 * The messages and how far the log has been read are written in one transaction, so that nothing is lost or told twice,
 * whenever a process dies.
 *
 * @returns how many messages were made
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

/**
 * While nobody listens, the log is not to be kept for them; but each change is no reason to write.
 *
 * @returns whether nobody listens
 */
async function skipUnheard(database: Database): Promise<boolean> {
  const { rows } = await sql<{ unheard: boolean }>`
    WITH receivers AS (SELECT id FROM webhooks WHERE active LIMIT 1), skipped AS (
      UPDATE changes_readers SET position = last FROM changes_counter
      WHERE name = ${READER} AND position < last - ${UNHEARD} AND NOT EXISTS (SELECT FROM receivers)
    )
    SELECT NOT EXISTS (SELECT FROM receivers) AS unheard`.execute(database);
  return rows[0]?.unheard ?? false;
}

/** Whether there is anything to read; to be asked before anything is locked. */
async function isBehind(database: Database): Promise<boolean> {
  const { rows } = await sql<{ behind: boolean }>`
    SELECT last > coalesce((SELECT position FROM changes_readers WHERE name = ${READER}), -1) AS behind
    FROM changes_counter`.execute(database);
  return rows[0]?.behind ?? true;
}

async function fanOutBatch(trx: Transaction): Promise<{ messages: number; more: boolean }> {
  // Whoever ends a delivery holds its webhook, too: what comes after another is not forgotten between the two.
  const rows = await trx
    .selectFrom('webhooks')
    .select(['id', 'since', 'filter'])
    .where('active', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute();
  if (rows.length === 0) return { messages: 0, more: false };
  const receivers = rows.map(({ id, since, filter }) => ({ id, since, wants: parseChangeFilter(filter) }));
  const position = await lockPosition(trx);
  const from = Math.max(position, Math.min(...receivers.map(({ since }) => since)));
  const most = changesAtOnce(receivers.length);
  const changes = await readChanges(trx, from, most);
  const last = changes.at(-1)?.number ?? from;
  if (last > position)
    await trx.updateTable('changes_readers').set({ position: last }).where('name', '=', READER).execute();
  const messages = receivers.flatMap((receiver) => messagesFor(receiver, changes));
  await insertMessages(trx, messages);
  return { messages: messages.length, more: changes.length === most };
}

/** The more there are to be told, the fewer changes are read at a time: each may be a message for each of them. */
function changesAtOnce(receivers: number): number {
  return Math.min(READ_AT_ONCE, Math.max(FEWEST_CHANGES, Math.floor(MESSAGES_AT_ONCE / receivers)));
}

async function lockPosition(trx: Transaction): Promise<number> {
  await sql`INSERT INTO changes_readers (name, position) VALUES (${READER}, 0) ON CONFLICT DO NOTHING`.execute(trx);
  const { position } = await trx
    .selectFrom('changes_readers')
    .select('position')
    .where('name', '=', READER)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return position;
}

function messagesFor({ id, since, wants }: Receiver, changes: readonly Change[]) {
  return changes
    .filter((change) => change.number > since && wants(change))
    .map((change) => ({ webhook_id: id, order_key: orderKey(change), ...messageOf(id, change) }));
}

/** What happens to one thing is told in order. */
function orderKey({ eventId, seriesId, agentId }: Change): string {
  if (eventId !== null) return `event ${eventId}`;
  return seriesId === null ? `agent ${agentId}` : `series ${seriesId}`;
}

/**
 * Of each key the first message that waits is due; the others wait for it.
 *
 * @param due since when
 */
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
