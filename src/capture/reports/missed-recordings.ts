import { sql } from 'kysely';
import { recordChanges } from '#changes/record.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { assertMove } from '#processing/states.ts';
import { hasMedia, RECORDING_MOVES, type RecordingState } from '../states/state.ts';

/** What a recording counts as that never came. */
const MISSED: RecordingState = 'capture_error';
const BATCH = 500;

/**
 * Marks scheduled events whose recording never came: over for longer than the grace period, as are their last changes,
 * and nothing known of a recording. They can still be moved, and a recording that comes late is taken.
 *
 * Events and schedules that somebody else has locked, such as for a recording that is just coming in, are left for the
 * next time.
 *
 * @returns how many there were
 */
export async function markMissedRecordings(database: Database, graceMs: number): Promise<number> {
  let marked = 0;
  for (;;) {
    const batch = await inTransaction(database, (trx) => markMissedBatch(trx, graceMs));
    marked += batch;
    if (batch < BATCH) return marked;
  }
}

/** Marks some of them. @returns how many; `BATCH` when there may be more */
export async function markMissedBatch(trx: Transaction, graceMs: number): Promise<number> {
  assertMove(RECORDING_MOVES, '', MISSED);
  const past = sql`now() - make_interval(secs => ${graceMs / 1000})`;
  // The empty state is no parameter: the plan needs to see that the index of awaited recordings has all of them.
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
  await recordChanges(
    trx,
    rows.map(({ eventId }) => ({ kind: 'event.recording', eventId, data })),
  );
  return rows.length;
}
