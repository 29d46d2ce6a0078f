import { type RawBuilder, sql } from 'kysely';
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
  const rows = changes.map(({ kind, eventId, seriesId, agentId, actor = '', readRoles, data = {} }) => ({
    kind,
    event_id: eventId,
    series_id: seriesId,
    agent_id: agentId,
    actor,
    read_roles: readRoles,
    data,
  }));
  return sql`
      INSERT INTO changes (kind, event_id, series_id, agent_id, actor, read_roles, data)
      SELECT kind, event_id, coalesce(series_id, (SELECT events.series_id FROM events WHERE events.id = told.event_id)),
        agent_id, actor, read_roles, data
      FROM ROWS FROM (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (kind text, event_id text, series_id text,
        agent_id text, actor text, read_roles text[], data jsonb)) WITH ORDINALITY AS told
      ORDER BY ordinality
      RETURNING id`;
}

const BATCH = 5_000;
const BATCHES = 20;

/** Deletes a limited number of changes older than this, except those a persistent reader has not read. */
export async function sweepChanges(database: Database, days: number): Promise<number> {
  let removed = 0;
  for (let i = 0; i < BATCHES; i += 1) {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM changes WHERE id IN (
        SELECT id FROM (SELECT id, at, number FROM changes ORDER BY id LIMIT ${BATCH}) AS oldest
        WHERE at < now() - make_interval(days => ${days}) AND number IS NOT NULL
          AND number <= coalesce((SELECT min(position) FROM changes_readers), number))`.execute(database);
    removed += Number(numAffectedRows);
    if (numAffectedRows < BATCH) break;
  }
  return removed;
}
