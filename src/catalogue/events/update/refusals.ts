import { UNAUTHORIZED } from '#access/access-errors.ts';
import type { HttpError } from '#platform/http/errors/errors.ts';
import { ACL_LOCKED, EVENT_MISSING, NOT_SCHEDULED } from '../refusals.ts';

/** The refusals of edits that the state of the event does not allow. Endpoints have different sentences. */
export interface UpdateRefusals {
  /** The event does not exist, or the principal may not read it. */
  missing(id: string): HttpError;
  /** The principal may read but not write the event. */
  denied(): HttpError;
  /** The ACL or the tracks would change under an active workflow. */
  processing(id: string): HttpError;
  /** The schedule would change, but the event was never scheduled. */
  unscheduled(id: string): HttpError;
}

/** The default refusals. */
export const REFUSALS: UpdateRefusals = {
  missing: EVENT_MISSING,
  denied: UNAUTHORIZED,
  processing: () => ACL_LOCKED(),
  unscheduled: () => NOT_SCHEDULED(),
};
