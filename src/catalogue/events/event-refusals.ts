import { refusal } from '#platform/http/errors/errors.ts';
import { EVENT_MISSING } from '#processing/workflow-refusals.ts';
import { PUBLICATION_ID } from '#publications/publication-examples.ts';
import { EVENT_ID, SERIES_ID, TRACK_ID } from './event-examples.ts';

export { EVENT_MISSING };
/** The sentence of the endpoints for media, publications and scheduling. */
export const EVENT_NOT_FOUND = refusal(404, (id: string) => `Unable to find event with id '${id}'`, [EVENT_ID]);
/** The sentence of DELETE for an event. */
export const NOTHING_TO_DELETE = refusal(404, (id: string) => id, [EVENT_ID]);
export const EVENT_PART_MISSING = refusal(404, 'The resource you requested does not exist.');
export const IDENTIFIER_TAKEN = refusal(409, (id: string) => `An event with the identifier '${id}' already exists.`, [
  EVENT_ID,
]);
export const NO_SUCH_SERIES = refusal(
  400,
  (id: string) => `Unable to retrieve series dublincore catalog for the series ${id}`,
  [SERIES_ID],
);

export const ACL_LOCKED = refusal(400, 'Unable to update the ACL of this event as it is currently processing.');
/** The sentence of the ACL endpoints. */
export const ACL_LOCKED_HERE = refusal(403, '');
export const ACL_FULL = refusal(400, (most: number) => `An access control list has at most ${most} entries.`, [2000]);
export const NO_ACL_ENTRY = refusal(
  404,
  (action: string, role: string) => `Unable to find an access control entry with action '${action}' and role '${role}'`,
  ['read', 'ROLE_STUDENT'],
);

/** The sentence of DELETE for a catalog. */
export const NO_CATALOG_TO_DELETE = refusal(
  404,
  (flavor: string, id: string) => `Cannot find a catalog with flavor '${flavor}' for event with id '${id}'.`,
  ['license/episode', EVENT_ID],
);
export const NO_FLAVOR = refusal(
  400,
  (type: string) => `Unable to parse type '${type}' as a flavor so unable to find the matching catalog.`,
  ['text'],
);

export const TRACK_MISSING = refusal(
  404,
  (trackId: string, id: string) => `Unable to find track with id '${trackId}' in event with id '${id}'`,
  [TRACK_ID, EVENT_ID],
);
export const PUBLICATION_MISSING = refusal(
  404,
  (publicationId: string, id: string) =>
    `Unable to find publication with id '${publicationId}' in event with id '${id}'`,
  [PUBLICATION_ID, EVENT_ID],
);
export const TRACKS_LOCKED = refusal(
  409,
  (id: string) => `Cannot update while a workflow is running on event '${id}'`,
  [EVENT_ID],
);

export const NOT_SCHEDULED = refusal(400, "The part 'scheduling' is for events that are scheduled; this one is not.");
export const NOT_SCHEDULED_ANY_MORE = refusal(409, (id: string) => `The event '${id}' is not scheduled any more.`, [
  EVENT_ID,
]);
export const RECORDED_ALREADY = refusal(
  409,
  (id: string) => `The recording of the event '${id}' has already arrived.`,
  [EVENT_ID],
);
export const RECORDING_BEGUN = refusal(400, "Scheduling can't be changed for events whose recording has begun.");
export const UPLOADED_ALREADY = refusal(400, "Processing can't be updated for events that are already uploaded.");
export const TRACKS_WITH_RULE = refusal(
  400,
  "Recordings cannot be sent with an 'rrule', because it creates several events. Send each recording to its event.",
);
export const NO_WORKFLOW = refusal(400, 'No workflow template in metadata');

/** The refusals of creating events. */
export const CREATION_REFUSALS = [TRACKS_WITH_RULE, NO_SUCH_SERIES, IDENTIFIER_TAKEN];
/** The refusals of a full update, in the order of its parts. */
export const UPDATE_REFUSALS = [UPLOADED_ALREADY, ACL_LOCKED, NO_WORKFLOW, NO_SUCH_SERIES];
/** The refusals of changing a schedule. */
export const RESCHEDULING_REFUSALS = [NOT_SCHEDULED, RECORDING_BEGUN];

export const UNPARSABLE_FILTER = refusal(
  400,
  (filter: string, reason: string) => `Filter '${filter}' could not be parsed: ${reason}`,
  ['start', 'The date range string is malformed'],
);
