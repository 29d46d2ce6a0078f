import { type AliasableExpression, type Expression, type SqlBool, sql } from 'kysely';
import { recordChanges } from '../changes/record.ts';
import type { Database, Queryable, Transaction } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { assertMove } from '../workflows/states.ts';

/** How far a recording is, as its agent tells it; empty until something is known of it. */
export type RecordingState =
  | ''
  | 'capturing'
  | 'capture_finished'
  | 'capture_error'
  | 'manifest'
  | 'manifest_finished'
  | 'manifest_error'
  | 'compressing'
  | 'compressing_error'
  | 'uploading'
  | 'upload_finished'
  | 'upload_error';

const UPLOADING = ['uploading', 'upload_finished', 'upload_error'] as const;
const COMPRESSING = ['compressing', 'compressing_error', ...UPLOADING] as const;
const MANIFEST = ['manifest', 'manifest_finished', 'manifest_error', ...COMPRESSING] as const;
const CAPTURING = ['capturing', 'capture_finished', 'capture_error', ...MANIFEST] as const;
/** What failed may be put off, be done again, or come after all. */
const AFTER_FAILURE = ['', ...CAPTURING] as const;

/**
 * Every legal move of a recording; there are no others. Agents skip what they do not do, and none of them goes back: one
 * that records a second time changes nothing of what is known.
 */
export const RECORDING_MOVES: Readonly<Record<RecordingState, readonly RecordingState[]>> = {
  '': CAPTURING,
  capturing: ['capture_finished', 'capture_error', ...MANIFEST],
  capture_finished: MANIFEST,
  manifest: ['manifest_finished', 'manifest_error', ...COMPRESSING],
  manifest_finished: COMPRESSING,
  compressing: ['compressing_error', ...UPLOADING],
  uploading: ['upload_finished', 'upload_error'],
  upload_finished: [],
  capture_error: AFTER_FAILURE,
  manifest_error: AFTER_FAILURE,
  compressing_error: AFTER_FAILURE,
  upload_error: AFTER_FAILURE,
};

/** What happened to a recording. Every change of its state goes through `advanceRecording()` with one of these. */
export type RecordingChange =
  /** It is to take place at another time or by another agent: what was known of it is forgotten. */
  | { kind: 'moved' }
  /** Its tracks are there. */
  | { kind: 'recorded' }
  /** Its agent says how far it is. */
  | { kind: 'reported'; state: Exclude<RecordingState, ''> };

/** What a recording counts as that never came. */
const MISSED: RecordingState = 'capture_error';
const BATCH = 500;

/**
 * The only writer of the states of recordings, together with `markMissedRecordings`. What is known already may be said
 * again and changes nothing. Locks the schedule.
 *
 * @param eventId of a scheduled event
 * @returns the state it is in now
 * @throws {IllegalMove} when the state does not allow the change
 */
export async function advanceRecording(
  trx: Transaction,
  eventId: string,
  change: RecordingChange,
): Promise<RecordingState> {
  const { recording_state } = await trx
    .selectFrom('schedules')
    .select('recording_state')
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const [from, to] = [recording_state as RecordingState, stateAfter(change)];
  if (from === to) return to;
  assertMove(RECORDING_MOVES, from, to);
  await trx.updateTable('schedules').set({ recording_state: to }).where('event_id', '=', eventId).execute();
  await recordChanges(trx, [{ kind: 'event.recording', eventId, data: { recording: to } }]);
  return to;
}

function stateAfter(change: RecordingChange): RecordingState {
  switch (change.kind) {
    case 'moved':
      return '';
    case 'recorded':
      return 'upload_finished';
    case 'reported':
      return change.state;
  }
}

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

/** How far the recording of an event is, for whoever wants to change the event. */
export type RecordingProgress =
  /** It was never scheduled. */
  | 'unscheduled'
  /** It is still to come. One that failed or was missed may still come. */
  | 'awaited'
  /** It has begun, or come. */
  | 'begun'
  /** It has come, and could not be processed. Another one may come in its place. */
  | 'failed';

/**
 * How far the recording of an event is; undefined when there is no such event. What a client may change of a scheduled
 * event depends on this alone, whatever the time is.
 */
export async function recordingProgress(
  db: Queryable,
  eventId: string,
): Promise<RecordingProgress | undefined> {
  const event = await db
    .selectFrom('events')
    .select(['agent_id', 'recording_state', 'processing_state'])
    .select(hasMedia(sql.ref('events.id')).as('recorded'))
    .where('id', '=', eventId)
    .executeTakeFirst();
  if (!event) return undefined;
  if (event.agent_id === '') return 'unscheduled';
  if (event.processing_state === 'FAILED') return 'failed';
  const mayBeMoved = stateAllows(event.recording_state as RecordingState, '');
  return mayBeMoved && event.processing_state === '' && !event.recorded ? 'awaited' : 'begun';
}

/** Whether a scheduled event has no recording yet, however far its agent says that it is. */
export async function awaitsDelivery(db: Queryable, eventId: string): Promise<boolean> {
  const event = await db
    .selectFrom('events')
    .select('id')
    .where('id', '=', eventId)
    .where('agent_id', '<>', '')
    .where('processing_state', '=', '')
    .where((is) => is.not(hasMedia(sql.ref('events.id'))))
    .executeTakeFirst();
  return event !== undefined;
}

function stateAllows(from: RecordingState, to: RecordingState): boolean {
  return from === to || RECORDING_MOVES[from].includes(to);
}

/** A condition: the event with this identifier has tracks that are to be seen or heard; captions and documents are neither. */
function hasMedia(eventId: Expression<string>): AliasableExpression<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT FROM tracks WHERE tracks.event_id = ${eventId} AND tracks.is_media)`;
}
