import { type Principal, requireOwnAgent } from '#access/principal.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { IllegalMove } from '#processing/states.ts';
import { advanceRecording } from '../schedules/write-schedules.ts';
import type { RecordingState } from '../states/state.ts';

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
