import { sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import { isMedia, type NewTrack } from '#catalogue/events/tracks.ts';
import type { AcceptedDraft } from '#ingest/drafts.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { broughtBy, type Recipient } from './recipient.ts';

/**
 * The event that has these very recordings already: the one they are for, or one beside it; where that is not for the
 * account to deliver to, one that it has brought itself. Agents that have lost our answer, or power, send what they have
 * once more. What a workflow has made of them since is none of them.
 */
export async function recordedAs(
  trx: Transaction,
  { id, kind }: Recipient,
  tracks: readonly NewTrack[],
  principal: Principal,
): Promise<AcceptedDraft | undefined> {
  const ofAccount = kind === 'recorded' ? sql`true` : broughtBy(sql.ref('tracks.event_id'), principal);
  const sent = tracks.filter(isMedia).map(({ sha256 }) => sha256);
  const { rows } = await sql<{ eventId: string; held: (string | null)[]; workflowId: number | null }>`
    SELECT event_id AS "eventId", array_agg(sha256) AS held,
      (SELECT max(workflows.id) FROM workflows WHERE workflows.event_id = tracks.event_id) AS "workflowId"
    FROM tracks
    WHERE is_media AND made_by IS NULL AND event_id IN (SELECT ${id} UNION ALL SELECT event_id FROM further_recordings WHERE of_event = ${id})
      AND ${ofAccount}
    GROUP BY event_id ORDER BY event_id = ${id} DESC, event_id`.execute(trx);
  const same = rows.find(({ held }) => sameItems(held, sent));
  return same && { eventId: same.eventId, workflowId: same.workflowId ?? undefined };
}

/** Which part of the recording of an event another one is. The delivery to the event is locked. */
export async function nextPart(trx: Transaction, { id }: Recipient): Promise<number> {
  const { part } = await trx
    .selectFrom('further_recordings')
    .select(sql<number>`coalesce(max(part), 1) + 1`.as('part'))
    .where('of_event', '=', id)
    .executeTakeFirstOrThrow();
  return part;
}

/** Writes down that an event stands beside the one that its recording was for. */
export async function writePart(
  trx: Transaction,
  { id }: Recipient,
  further: { eventId: string; part: number },
): Promise<void> {
  await trx
    .insertInto('further_recordings')
    .values({ event_id: further.eventId, of_event: id, part: further.part })
    .execute();
}

function sameItems(a: readonly (string | null)[], b: readonly (string | null)[]): boolean {
  if (a.includes(null) || a.length !== b.length) return false;
  const [left, right] = [[...a].sort(), [...b].sort()];
  return left.every((item, i) => item === right[i]);
}
