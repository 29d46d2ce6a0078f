import type { AclEntry } from '#access/acl/acl.ts';
import { planRecordings, type RecordingPlan } from '#capture/schedules/plan.ts';
import { chosenIdentifier, newEventColumns } from '#catalogue/events/columns.ts';
import type { NewEvents } from '#catalogue/events/create-events.ts';
import { NO_WORKFLOW } from '#catalogue/events/refusals.ts';
import { requireValues } from '#metadata/parse.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { type PartOptions, parseEventParts } from './event-form.ts';

const NO_ACL = refusal(400, 'No access control list available to create new event.');
const NO_METADATA = refusal(400, 'No metadata list available to create new event.');
const NO_PROCESSING = refusal(400, 'No processing metadata available to create new event.');
/** Refusals of missing parts. */
export const MISSING_PARTS = [NO_ACL, NO_METADATA, NO_PROCESSING, NO_WORKFLOW];

/** The maximum number of ACL entries of all events of one request. */
const MAX_ENTRIES = 100_000;
/** The maximum number of characters of each part for all events of one request. */
const MAX_CHARACTERS = 2_000_000;
const COPIED = ['metadata', 'processing', 'scheduling'];

/**
 * Reads the form fields of new events. Contents are validated before completeness, as the reference does
 * (compatibility 3.5). Other fields are ignored; an empty one counts as absent.
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export async function parseNewEvents(
  fields: ReadonlyMap<string, string>,
  options: PartOptions & { database: Queryable; maxOccurrences: number },
): Promise<NewEvents> {
  const parts = parseEventParts(fields, { ...options, purpose: 'create' });
  const { acl, catalogs, processing, scheduling } = parts;
  const episode = catalogs?.get(options.catalogs.common.flavor) ?? new Map();
  const id = chosenIdentifier(episode);
  const columns = newEventColumns(episode, new Date());
  const recordings = scheduling === undefined ? undefined : await planRecordings(scheduling, options);
  if (acl === undefined) throw NO_ACL();
  if (!catalogs) throw NO_METADATA();
  if (!processing) throw NO_PROCESSING();
  if (!processing.workflow) throw NO_WORKFLOW();
  requireValues(catalogs, options.catalogs);
  if (recordings) requireReasonable(recordings, { acl: acl ?? [], fields });
  const extended = [...catalogs].filter(([flavor]) => flavor !== options.catalogs.common.flavor);
  return { id, columns, catalogs: new Map(extended), acl, processing, recordings };
}

/** Refuses parts that are too large to be copied to every event of a recurring schedule. */
function requireReasonable(
  { periods }: RecordingPlan,
  { acl, fields }: { acl: readonly AclEntry[]; fields: ReadonlyMap<string, string> },
): void {
  if (periods.length === 1) return;
  if (acl.length * periods.length > MAX_ENTRIES) {
    throw badRequest(
      `The part 'acl' has ${acl.length} entries for each of ${periods.length} events; the maximum for all events together is ${MAX_ENTRIES} entries.`,
    );
  }
  for (const name of COPIED) {
    const characters = fields.get(name)?.trim().length ?? 0;
    if (characters * periods.length <= MAX_CHARACTERS) continue;
    throw badRequest(
      `The part '${name}' has ${characters} characters for each of ${periods.length} events; the maximum for all events together is ${MAX_CHARACTERS} characters.`,
    );
  }
}
