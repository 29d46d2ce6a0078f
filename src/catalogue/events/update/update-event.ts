import type { Transaction } from '#platform/database/kysely.ts';
import { TransactionConflict } from '#platform/database/retry.ts';
import { lockEvent, type Sender } from '../event-state.ts';
import { writeEvents } from '../write-events.ts';
import { type Decision, decideUpdate } from './decide-update.ts';
import { type EventEdits, REFUSALS, referredIn, type UpdateRefusals } from './event-edits.ts';

const DELETED = () => new TransactionConflict('The event has been deleted.');

/**
 * Updates an event: loads its state once, decides, and writes. The caller removes the objects of new tracks from the staging
 * ledger and starts the returned processing. Run it in `inTransaction`, or in `withScheduleConflicts` if the schedule may
 * change.
 *
 * @param by.refusals refusals that differ from the default
 * @throws {HttpError} 404 for an event that the sender may not read, 401 for one it may not write
 * @throws {ScheduleOverlap} if the agent has another recording at that time
 * @throws {TransactionConflict} for a recording of an agent whose event was deleted or has another recording
 */
export async function updateEvent(
  trx: Transaction,
  id: string,
  edits: EventEdits,
  by: Sender & { refusals?: Partial<UpdateRefusals> | undefined },
): Promise<Omit<Decision, 'write'>> {
  const refusals = { ...REFUSALS, ...by.refusals };
  const { tracks } = edits;
  const isOfAgent = tracks?.kind === 'recording' && tracks.from === 'agent';
  const missing = isOfAgent ? DELETED : refusals.missing;
  const state = await lockEvent(trx, id, by, { ...refusals, missing, referred: referredIn(edits) });
  const { write, ...outcome } = decideUpdate(state, edits, { actor: by.principal.username, refusals });
  if (write) await writeEvents(trx, write);
  return outcome;
}
