import type { Transaction } from '#platform/database/kysely.ts';
import { Outdated } from '#platform/database/retry.ts';
import { lockEvent, type Sender } from '../event-state.ts';
import { writeEvents } from '../write-events.ts';
import { type Decision, decideUpdate } from './decide-update.ts';
import { type EventEdits, referredIn } from './edits.ts';
import { REFUSALS, type Refusals } from './refusals.ts';

const DELETED = () => new Outdated('The event has been deleted.');

/**
 * Changes an event on request: loads it once, decides, and writes. Objects of new tracks are for the caller to take off the staging ledger, and a recording that has come for it
 * to have processed. Run it in `inTransaction`, or in `explainingConflicts` when the schedule may change.
 *
 * @param by.refusals what is said here in other words than usual
 * @throws {HttpError} 404 for an event that the sender may not read, 401 for one it may not write
 * @throws {ScheduleOverlap} when something else is to be recorded then
 * @throws {Outdated} for a recording of an agent whose event has been deleted, or has got another
 * @throws what `decideUpdate` throws
 */
export async function updateEvent(
  trx: Transaction,
  id: string,
  edits: EventEdits,
  by: Sender & { refusals?: Partial<Refusals> | undefined },
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
