import { sql } from 'kysely';
import { recordChanges } from '#changes/record-changes.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { assertMove } from '#processing/workflow-states.ts';
import { hasMedia, RECORDING_MOVES, type RecordingState } from '../states/recording-state.ts';

/** The state of a recording that was never delivered. */
const MISSED: RecordingState = 'capture_error';
const BATCH = 500;

/**
 * Marks scheduled events whose recording never came, after a grace period. They can still be moved, and a late
 * recording is accepted. Skips locked rows; a later run marks them. @returns the number of marked events
 */
export async function markMissedRecordings(database: Database, graceMs: number): Promise<number> {
  let marked = 0;
  for (;;) {
    const batch = await inTransaction(database, (trx) => markMissedBatch(trx, graceMs));
    marked += batch;
    if (batch < BATCH) return marked;
  }
}

/** Marks one batch. @returns the number of marked events; `BATCH` if more may exist */
export async function markMissedBatch(trx: Transaction, graceMs: number): Promise<number> {
  assertMove(RECORDING_MOVES, '', MISSED);
  const past = sql`now() - make_interval(secs => ${graceMs / 1000})`;
  // The empty state is a literal, so that the planner can use the partial index of awaited recordings.
  const { rows } = await sql<{ eventId: string }>`
    WITH missed AS (
      SELECT schedules.event_id FROM schedules JOIN events ON events.id = schedules.event_id
      WHERE schedules.recording_state = '' AND schedules.end_date < ${past} AND schedules.changed_at < ${past}
        AND events.processing_state = '' AND NOT ${hasMedia(sql.ref('events.id'))}
      ORDER BY schedules.end_date LIMIT ${BATCH}
      FOR UPDATE OF events, schedules SKIP LOCKED
    )
    UPDATE schedules SET recording_state = ${MISSED} FROM missed
    WHERE schedules.event_id = missed.event_id RETURNING schedules.event_id AS "eventId"`.execute(trx);
  const data = { recording: MISSED, missed: true };
  const changes = rows.map(({ eventId }) => ({ kind: 'event.recording' as const, eventId, data }));
  await recordChanges(trx, changes);
  return rows.length;
}
