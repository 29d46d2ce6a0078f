import { badRequest, type HttpError, notFound } from '../../http/errors.ts';

/** How an edit is refused that the state of the event does not allow: endpoints say it in words of their own. */
export interface Refusals {
  /** There is no such event, or the principal may not read it. */
  missing(id: string): HttpError;
  /** A workflow is active, which the ACL and the tracks must not change under. */
  processing(id: string): HttpError;
  /** Its scheduling is to change, and it was never scheduled. */
  unscheduled(id: string): HttpError;
}

/** What `POST /api/events/{id}` says. */
export const REFUSALS: Refusals = {
  missing: (id) => notFound(`Cannot find an event with id '${id}'.`),
  processing: () => badRequest('Unable to update the ACL of this event as it is currently processing.'),
  unscheduled: () => badRequest("The part 'scheduling' is for events that are scheduled; this one is not."),
};
