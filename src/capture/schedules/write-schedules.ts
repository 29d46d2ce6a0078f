import { sql } from 'kysely';
import { recordChanges } from '#changes/record.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import type { Processing } from '#processing/processing.ts';
import {
  isSamePlace,
  type Occurrence,
  type RecordingChange,
  type RecordingState,
  type Schedule,
  stateAfter,
} from '../states/state.ts';

/** The time that somebody wants of an agent. */
export interface TimeClaim {
  agentId: string;
  /** What has to lie between two recordings, in milliseconds. */
  gapMs: number;
  /** Chronological. */
  occurrences: readonly Occurrence[];
}

/** The database refused a claim: somebody has the time already, or the claim overlaps itself. The transaction is over. */
export class Overlap extends Error {
  override name = 'Overlap';
  readonly claim: TimeClaim;
  constructor(claim: TimeClaim, cause: unknown) {
    super(`Something else is to be recorded on '${claim.agentId}'.`, { cause });
    this.claim = claim;
  }
}

const EXCLUSION_VIOLATION = '23P01';

/** Recordings of one agent that are scheduled together. */
export interface NewSchedules {
  agentId: string;
  inputs: readonly string[];
  /** Chronological. */
  occurrences: readonly Occurrence[];
  processing: Processing;
  /** What has to lie between two recordings of the agent, in milliseconds. */
  gapMs: number;
  /** None of which anything is known, unless given. */
  recordingState?: RecordingState | undefined;
}

/** Runs a statement that schedules. @throws {Overlap} when the constraint of the table refuses the claim */
export async function refusingOverlaps<T>(claim: TimeClaim, statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    const overlaps = error instanceof Error && 'code' in error && error.code === EXCLUSION_VIOLATION;
    throw overlaps ? new Overlap(claim, error) : error;
  }
}

/**
 * Locks capture agents until the transaction ends, and makes those known that nobody knows yet. What is scheduled on one
 * agent is thereby decided one after the other, and many requests for the same time do not wait for each other in
 * circles; that no two recordings overlap is up to the constraint of the table alone.
 *
 * @param agentId who is to record
 * @param former who was to, where that is another one: it may have been forgotten since
 */
async function lockAgents(trx: Transaction, agentId: string, former = agentId): Promise<void> {
  const ids = [agentId, former];
  // Those that are new come first, in order: whoever waits for one of them holds none that is older.
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

/**
 * Locks the agent of a locked event that is about to be deleted: agents are locked before schedules, and without this the
 * deletion would come to the agent last.
 */
export async function lockAgentOf(trx: Transaction, eventId: string): Promise<void> {
  await sql`SELECT FROM capture_agents WHERE id = (SELECT agent_id FROM events WHERE id = ${eventId})
    FOR NO KEY UPDATE`.execute(trx);
}

/**
 * Writes schedules, of events that the same transaction writes after them.
 *
 * @throws {Overlap} when one overlaps what the agent is to record already, or another of them
 */
export async function insertSchedules(trx: Transaction, schedules: NewSchedules): Promise<void> {
  const { agentId, inputs, occurrences, processing, gapMs, recordingState = '' } = schedules;
  await lockAgents(trx, agentId);
  await refusingOverlaps({ agentId, gapMs, occurrences }, () =>
    sql`
      INSERT INTO schedules (event_id, start_date, end_date, agent_id, gap_ms, inputs, workflow, configuration,
        recording_state, recording_state_since)
      SELECT event_id, start_date, end_date, ${agentId}, ${gapMs}, ${[...inputs]}::text[], ${processing.workflow},
        ${JSON.stringify(processing.configuration)}::jsonb, ${recordingState},
        CASE WHEN ${recordingState !== ''} THEN now() END
      FROM unnest(${occurrences.map(({ eventId }) => eventId)}::text[],
        ${occurrences.map(({ start }) => start)}::timestamptz[],
        ${occurrences.map(({ end }) => end)}::timestamptz[]) AS occurrence (event_id, start_date, end_date)
      ORDER BY start_date`.execute(trx),
  );
}

/** What is to become of the schedule of a locked event; what is not given stays. */
export interface ScheduleChange {
  /** As it is. */
  from: Schedule;
  /** Another time, agent or inputs. */
  to?: Schedule | undefined;
  /** What is done with the recording once it comes. */
  processing?: Processing | undefined;
  /** By `stateAfter`. */
  recordingState?: RecordingState | undefined;
  /** Of the event. */
  title: string;
  /** What has to lie between two recordings of the agent, in milliseconds. */
  gapMs: number;
  /** Whether it may overlap what the agent is to record already. */
  allowConflict: boolean;
}

/**
 * Changes the schedule of a locked event, in one statement. Agents are locked before it.
 *
 * @throws {Overlap} when it overlaps what the agent is to record already, and may not
 */
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
  await refusingOverlaps({ agentId, gapMs, occurrences: [{ ...(to ?? from), title }] }, () => update.execute());
}

/**
 * Writes down how far the recording of a scheduled event is, whose row is locked.
 *
 * @param from as the event shows it
 * @returns the state it is in now
 * @throws {IllegalMove} when the state does not allow the change
 */
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
