import { type Principal, requireOwnAgent } from '#access/principal.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { IllegalMove } from '#processing/states.ts';
import { advanceRecording } from '../schedules/write-schedules.ts';
import type { RecordingState } from '../states/state.ts';

export const RECORDING_MISSING = refusal(
  404,
  (id: string) => `There is no scheduled event with the identifier '${id}'.`,
  ['0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21'],
);

/** No agent begins earlier than that whose clock is right. */
const EARLY_MS = 3_600_000;

/** What an agent says of a recording; `unknown` says nothing, and empty takes back what was said. */
export type ReportedState = RecordingState | 'unknown';

/**
 * Writes down how far a recording is. What cannot follow what is known already (agents repeat themselves, and some record
 * twice) changes nothing but the log.
 *
 * @returns whether that changed anything
 * @throws {HttpError} 404 for an event that is not scheduled, 403 for one of another agent
 */
export async function reportRecording(
  database: Database,
  eventId: string,
  state: ReportedState,
  { principal, log }: { principal: Principal; log: Logger },
): Promise<boolean> {
  return inTransaction(database, async (trx) => {
    // In the order in which all lock: event, agent, schedule.
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
      log.info(facts, 'an agent has said of a recording what was known');
      return false;
    }
    try {
      const from = event.recording_state as RecordingState;
      await advanceRecording(trx, eventId, from, state === '' ? { kind: 'moved' } : { kind: 'reported', state });
    } catch (error) {
      if (!(error instanceof IllegalMove)) throw error;
      log.info(facts, 'an agent has said of a recording what cannot be any more; nothing has changed');
      return false;
    }
    if (event.start_date.getTime() - Date.now() > EARLY_MS) {
      const start = event.start_date.toISOString();
      log.warn(
        { ...facts, start },
        "an agent has reported a recording long before its time; is the agent's clock right?",
      );
    } else log.info(facts, 'an agent has reported a recording');
    return true;
  });
}
