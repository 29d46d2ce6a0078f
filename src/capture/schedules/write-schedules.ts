import { sql } from 'kysely';
import { recordChanges } from '#changes/record-changes.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import type { Processing } from '#processing/processing-request.ts';
import {
  isSamePlace,
  type Occurrence,
  type RecordingChange,
  type RecordingState,
  type Schedule,
  stateAfter,
} from '../states/recording-state.ts';

/** A request for time of an agent. */
export interface TimeClaim {
  agentId: string;
  /** The required time between two recordings, in milliseconds. */
  gapMs: number;
  /** Chronological. */
  occurrences: readonly Occurrence[];
}

/** The database rejected a claim: it overlaps another recording, or itself. The transaction is aborted. */
export class ScheduleOverlap extends Error {
  override name = 'ScheduleOverlap';
  readonly claim: TimeClaim;
  constructor(claim: TimeClaim, cause: unknown) {
    super(`The recording overlaps another recording on '${claim.agentId}'.`, { cause });
    this.claim = claim;
  }
}

const EXCLUSION_VIOLATION = '23P01';

export interface NewSchedules {
  agentId: string;
  inputs: readonly string[];
  /** Chronological. */
  occurrences: readonly Occurrence[];
  processing: Processing;
  gapMs: number;
  /** The initial state, empty by default. */
  recordingState?: RecordingState | undefined;
  /** True if they may overlap other recordings of the agent; false by default. */
  allowConflict?: boolean;
}

/** Runs a statement that schedules. @throws {ScheduleOverlap} if the constraint of the table rejects the claim */
export async function translateOverlapError<T>(claim: TimeClaim, statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    const overlaps = error instanceof Error && 'code' in error && error.code === EXCLUSION_VIOLATION;
    throw overlaps ? new ScheduleOverlap(claim, error) : error;
  }
}

/**
 * Locks capture agents until the transaction ends, and registers unknown ones. So requests on one agent run one after
 * another and cannot deadlock; the constraint of the table alone prevents overlaps.
 */
async function lockAgents(trx: Transaction, agentId: string, former = agentId): Promise<void> {
  const ids = [agentId, former];
  // Inserts new agents first, in order, so that a transaction that waits for one of them holds no older lock.
  await sql`
    INSERT INTO capture_agents (id) SELECT DISTINCT id FROM unnest(${ids}::text[]) AS wanted (id)
    WHERE NOT EXISTS (SELECT FROM capture_agents AS known WHERE known.id = wanted.id)
    ORDER BY id ON CONFLICT (id) DO NOTHING`.execute(trx);
  const locked = await trx
    .selectFrom('capture_agents')
    .select(['id', 'forgotten'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  if (!locked.some(({ id, forgotten }) => forgotten && id === agentId)) return;
  await trx
    .updateTable('capture_agents')
    .set({ forgotten: false, known_since: sql<Date>`now()` })
    .where('id', '=', agentId)
    .execute();
}

/** Locks the agent of a locked event before its deletion, as agents are locked before schedules. */
export async function lockAgentOf(trx: Transaction, eventId: string): Promise<void> {
  await sql`SELECT FROM capture_agents WHERE id = (SELECT agent_id FROM events WHERE id = ${eventId})
    FOR NO KEY UPDATE`.execute(trx);
}

/** Removes the schedule of a locked event, if it has one. The event is written afterwards, in the same transaction. */
export async function removeSchedule(trx: Transaction, eventId: string): Promise<void> {
  await lockAgentOf(trx, eventId);
  await trx.deleteFrom('schedules').where('event_id', '=', eventId).execute();
}

/** Inserts schedules before their events, in the same transaction. @throws {ScheduleOverlap} */
export async function insertSchedules(trx: Transaction, schedules: NewSchedules): Promise<void> {
  const { agentId, inputs, occurrences, processing, gapMs, recordingState = '', allowConflict = false } = schedules;
  await lockAgents(trx, agentId);
  await translateOverlapError({ agentId, gapMs, occurrences }, () =>
    sql`
      INSERT INTO schedules (event_id, start_date, end_date, agent_id, gap_ms, inputs, workflow, configuration,
        recording_state, recording_state_since, allow_conflict)
      SELECT event_id, start_date, end_date, ${agentId}, ${gapMs}, ${[...inputs]}::text[], ${processing.workflow},
        ${JSON.stringify(processing.configuration)}::jsonb, ${recordingState},
        CASE WHEN ${recordingState !== ''} THEN now() END, ${allowConflict}
      FROM unnest(${occurrences.map(({ eventId }) => eventId)}::text[],
        ${occurrences.map(({ start }) => start)}::timestamptz[],
        ${occurrences.map(({ end }) => end)}::timestamptz[]) AS occurrence (event_id, start_date, end_date)
      ORDER BY start_date`.execute(trx),
  );
}

/** A change of the schedule of a locked event; omitted fields stay unchanged. */
export interface ScheduleChange {
  from: Schedule;
  to?: Schedule | undefined;
  processing?: Processing | undefined;
  recordingState?: RecordingState | undefined;
  title: string;
  gapMs: number;
  /** True if it may overlap other recordings of the agent. */
  allowConflict: boolean;
}

/** Changes the schedule of a locked event, after locking the agents. @throws {ScheduleOverlap} */
export async function changeSchedule(trx: Transaction, change: ScheduleChange): Promise<void> {
  const { from, to, processing, recordingState, title, gapMs, allowConflict } = change;
  const moves = to !== undefined && !isSamePlace(from, to);
  if (moves) await lockAgents(trx, to.agentId, from.agentId);
  const update = trx
    .updateTable('schedules')
    .set({
      ...(to && { inputs: to.inputs, changed_at: sql`now()` }),
      ...(moves && {
        agent_id: to.agentId,
        start_date: to.start,
        end_date: to.end,
        gap_ms: gapMs,
        allow_conflict: allowConflict,
      }),
      ...(processing && {
        workflow: processing.workflow,
        configuration: JSON.stringify(processing.configuration),
      }),
      ...(recordingState !== undefined && { recording_state: recordingState }),
    })
    .where('event_id', '=', from.eventId);
  const { agentId } = to ?? from;
  await translateOverlapError({ agentId, gapMs, occurrences: [{ ...(to ?? from), title }] }, () => update.execute());
}

/** Changes the recording state of a locked event. @returns the new state @throws {IllegalMove} */
export async function advanceRecording(
  trx: Transaction,
  eventId: string,
  from: RecordingState,
  change: RecordingChange,
): Promise<RecordingState> {
  const to = stateAfter(from, change);
  if (from === to) return to;
  await trx.updateTable('schedules').set({ recording_state: to }).where('event_id', '=', eventId).execute();
  await recordChanges(trx, [{ kind: 'event.recording', eventId, data: { recording: to } }]);
  return to;
}
