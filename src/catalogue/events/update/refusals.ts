import { UNAUTHORIZED } from '#access/access-errors.ts';
import type { HttpError } from '#platform/http/errors/errors.ts';
import { ACL_LOCKED, EVENT_MISSING, NOT_SCHEDULED } from '../refusals.ts';

/** How an edit is refused that the state of the event does not allow: endpoints say it in words of their own. */
export interface Refusals {
  /** There is no such event, or the principal may not read it. */
  missing(id: string): HttpError;
  /** The principal may read the event, and not write it. */
  denied(): HttpError;
  /** A workflow is active, which the ACL and the tracks must not change under. */
  processing(id: string): HttpError;
  /** Its scheduling is to change, and it was never scheduled. */
  unscheduled(id: string): HttpError;
}

/** What is said where an endpoint does not say otherwise. */
export const REFUSALS: Refusals = {
  missing: EVENT_MISSING,
  denied: UNAUTHORIZED,
  processing: () => ACL_LOCKED(),
  unscheduled: () => NOT_SCHEDULED(),
};
