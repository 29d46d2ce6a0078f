import { type RawBuilder, sql } from 'kysely';
import { deleteInBatches } from '#platform/database/delete-in-batches.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { NewChange } from './change.ts';

/** The channel that announces new changes. */
export const CHANGES_CHANNEL = 'inlet_changes';

/** Records changes in order, in the transaction that makes them, with the current series of an event. */
export async function recordChanges(trx: Transaction, changes: readonly NewChange[]): Promise<void> {
  if (changes.length === 0) return;
  await sql`
    WITH recorded AS (${insertChanges(changes)})
    SELECT pg_notify(${CHANGES_CHANNEL}, '') FROM (SELECT count(*) FROM recorded) AS counted`.execute(trx);
}

/** Returns an INSERT for another statement, which must notify `CHANGES_CHANNEL`. */
export function insertChanges(changes: readonly NewChange[]): RawBuilder<unknown> {
  return sql`
      INSERT INTO changes (kind, event_id, series_id, playlist_id, agent_id, actor, read_roles, data)
      SELECT kind, "eventId", coalesce("seriesId", (SELECT series_id FROM events WHERE id = given."eventId")),
        "playlistId", "agentId", coalesce(actor, ''), "readRoles", coalesce(data, '{}')
      FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) AS (kind text, "eventId" text,
        "seriesId" text, "playlistId" text, "agentId" text, actor text, "readRoles" text[], data jsonb)) WITH ORDINALITY AS given
      ORDER BY ordinality
      RETURNING id`;
}

const BATCH = 5_000;

/** Deletes a limited number of changes older than this, except those a persistent reader has not read. */
export function sweepChanges(database: Database, days: number): Promise<number> {
  const statement = sql`
    DELETE FROM changes WHERE id IN (
      SELECT id FROM (SELECT id, at, number FROM changes ORDER BY id LIMIT ${BATCH}) AS oldest
      WHERE at < now() - make_interval(days => ${days}) AND number IS NOT NULL
        AND number <= coalesce((SELECT min(position) FROM changes_readers), number))`;
  return deleteInBatches(database, BATCH, statement);
}
