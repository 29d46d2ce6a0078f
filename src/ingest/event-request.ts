import type { AclEntry } from '../access/acl.ts';
import type { Queryable } from '../database/kysely.ts';
import { chosenIdentifier, newEventColumns } from '../events/columns.ts';
import { parseEventParts } from '../events/event-parts.ts';
import { badRequest } from '../http/errors.ts';
import type { ApiVersion } from '../http/version.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { requireValues } from '../metadata/parse.ts';
import { planRecordings, type RecordingPlan } from '../recordings/schedules/plan.ts';
import type { Processing } from '../workflows/processing.ts';
import { requireReasonable } from './require-reasonable.ts';

/** What a client asks for beside the tracks. */
export interface EventRequest {
  /** The identifier it chose, if it did. */
  id: string | undefined;
  columns: ReturnType<typeof newEventColumns>;
  /** Values of the catalogs beside the default one, by flavor. */
  catalogs: Map<string, CatalogValues>;
  acl: AclEntry[];
  processing: Processing;
  /** What is to be recorded; undefined for an event that is not scheduled. */
  recordings: RecordingPlan | undefined;
}

/** What decides how a request is read. */
export interface ReadingOptions {
  catalogs: CatalogSet;
  version: ApiVersion;
  database: Queryable;
  maxOccurrences: number;
}

/**
 * Reads the form fields of new events. Contents are looked at before completeness, as the reference does
 * (compatibility 3.5); other fields are ignored, and an empty one counts as absent.
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export async function parseEventRequest(
  fields: ReadonlyMap<string, string>,
  options: ReadingOptions,
): Promise<EventRequest> {
  const parts = parseEventParts(fields, { ...options, purpose: 'create' });
  const { acl, catalogs, processing, scheduling } = parts;
  const episode = catalogs?.get(options.catalogs.common.flavor) ?? new Map();
  const id = chosenIdentifier(episode);
  const columns = newEventColumns(episode, new Date());
  const recordings = scheduling === undefined ? undefined : await planRecordings(scheduling, options);
  if (!acl) throw badRequest('No access control list available to create new event.');
  if (!catalogs) throw badRequest('No metadata list available to create new event.');
  if (!processing) throw badRequest('No processing metadata available to create new event.');
  if (!processing.workflow) throw badRequest('No workflow template in metadata');
  requireValues(catalogs, options.catalogs);
  if (recordings) requireReasonable(recordings, { acl, fields });
  const extended = [...catalogs].filter(([flavor]) => flavor !== options.catalogs.common.flavor);
  return { id, columns, catalogs: new Map(extended), acl, processing, recordings };
}
