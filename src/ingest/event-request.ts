import type { AclEntry } from '../access/acl.ts';
import { parseAcl } from '../access/acl.ts';
import { badRequest } from '../http/errors.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import { EPISODE } from '../metadata/episode.ts';
import { parseEventCatalogs } from '../metadata/parse.ts';
import { type Processing, parseProcessing } from './processing.ts';

/** What a client asks for beside the tracks. */
export interface EventRequest {
  acl: AclEntry[];
  metadata: CatalogValues;
  processing: Processing;
}

/**
 * Reads the form fields of a new event. Contents are looked at before completeness, as the reference does
 * (compatibility 3.5); other fields are ignored, and an empty one counts as absent.
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export function parseEventRequest(fields: ReadonlyMap<string, string>): EventRequest {
  const part = (name: string) => fields.get(name)?.trim() || undefined;
  const [acl, metadata, processing] = [part('acl'), part('metadata'), part('processing')];
  const entries = acl === undefined ? undefined : parseAcl(acl);
  const catalogs = metadata === undefined ? undefined : parseEventCatalogs(metadata, [EPISODE]);
  const instructions = processing === undefined ? undefined : parseProcessing(processing);
  if (part('scheduling')) {
    throw badRequest(
      "Scheduled events are not supported yet: leave out the part 'scheduling' and upload the recording.",
    );
  }
  if (!entries) throw badRequest('No access control list available to create new event.');
  if (!catalogs) throw badRequest('No metadata list available to create new event.');
  if (!instructions) throw badRequest('No processing metadata available to create new event.');
  if (!instructions.workflow) throw badRequest('No workflow template in metadata');
  return {
    acl: entries,
    metadata: catalogs.get(EPISODE.flavor) ?? new Map(),
    processing: instructions,
  };
}
