import { type Principal, requireOwnAgent } from '#access/principal.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { IllegalMove } from '#processing/workflow-states.ts';
import { advanceRecording } from '../schedules/write-schedules.ts';
import type { RecordingState } from '../states/recording-state.ts';

/** The list holds the recordings that start last. */
const MOST = 1000;

export interface ReportedRecording {
  id: string;
  state: string;
  since: Date | null;
}

/** Returns the reported recordings, the latest start first. */
export function reportedRecordings(db: Queryable): Promise<ReportedRecording[]> {
  return selectRecordings(db)
    .where('recording_state', '<>', '')
    .orderBy('start_date', 'desc')
    .orderBy('event_id')
    .limit(MOST)
    .execute();
}

export function findRecording(db: Queryable, eventId: string): Promise<ReportedRecording | undefined> {
  return selectRecordings(db).where('event_id', '=', eventId).executeTakeFirst();
}

function selectRecordings(db: Queryable) {
  return db
    .selectFrom('schedules')
    .select(['event_id as id', 'recording_state as state', 'recording_state_since as since']);
}

export const RECORDING_MISSING = refusal(404, (id: string) => `No scheduled event has the identifier '${id}'.`, [
  '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21',
]);

/** An agent that reports earlier before the start probably has a wrong clock. */
const EARLY_MS = 3_600_000;

/** A reported state; `unknown` has no effect, and the empty state resets the recording. */
type ReportedState = RecordingState | 'unknown';

/**
 * Stores the reported state of a recording. Agents repeat reports, so an illegal move is only logged.
 *
 * @returns true if the state has changed
 */
export async function reportRecording(
  database: Database,
  eventId: string,
  state: ReportedState,
  { principal, log }: { principal: Principal; log: Logger },
): Promise<boolean> {
  return inTransaction(database, async (trx) => {
    // The global lock order: event, agent, schedule.
    const event = await trx
      .selectFrom('events')
      .select(['agent_id', 'recording_state', 'start_date'])
      .where('id', '=', eventId)
      .where('agent_id', '<>', '')
      .forUpdate()
      .executeTakeFirst();
    if (!event) throw RECORDING_MISSING(eventId);
    requireOwnAgent(principal, event.agent_id);
    const facts = { eventId, agent: event.agent_id, from: event.recording_state, to: state };
    if (state === 'unknown' || state === event.recording_state) {
      log.info(facts, 'agent repeated the state of a recording');
      return false;
    }
    try {
      const from = event.recording_state as RecordingState;
      await advanceRecording(trx, eventId, from, state === '' ? { kind: 'moved' } : { kind: 'reported', state });
    } catch (error) {
      if (!(error instanceof IllegalMove)) throw error;
      log.info(facts, 'ignored an illegal state change that an agent reported for a recording');
      return false;
    }
    if (event.start_date.getTime() - Date.now() > EARLY_MS) {
      const start = event.start_date.toISOString();
      log.warn({ ...facts, start }, "agent reported a recording long before its start; check the agent's clock");
    } else log.info(facts, 'agent reported the state of a recording');
    return true;
  });
}
