import type { AclEntry } from '../access/acl.ts';
import { chosenIdentifier, newEventColumns } from '../events/columns.ts';
import { parseEventParts } from '../events/event-parts.ts';
import { badRequest } from '../http/errors.ts';
import type { ApiVersion } from '../http/version.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { requireValues } from '../metadata/parse.ts';
import type { Processing } from '../workflows/processing.ts';

/** What a client asks for beside the tracks. */
export interface EventRequest {
  /** The identifier it chose, if it did. */
  id: string | undefined;
  columns: ReturnType<typeof newEventColumns>;
  /** Values of the catalogs beside the default one, by flavor. */
  catalogs: Map<string, CatalogValues>;
  acl: AclEntry[];
  processing: Processing;
}

/**
 * Reads the form fields of a new event. Contents are looked at before completeness, as the reference does
 * (compatibility 3.5); other fields are ignored, and an empty one counts as absent.
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export function parseEventRequest(
  fields: ReadonlyMap<string, string>,
  options: { catalogs: CatalogSet; version: ApiVersion },
): EventRequest {
  const { acl, catalogs, processing } = parseEventParts(fields, { ...options, purpose: 'create' });
  const episode = catalogs?.get(options.catalogs.common.flavor) ?? new Map();
  const id = chosenIdentifier(episode);
  const columns = newEventColumns(episode, new Date());
  if (!acl) throw badRequest('No access control list available to create new event.');
  if (!catalogs) throw badRequest('No metadata list available to create new event.');
  if (!processing) throw badRequest('No processing metadata available to create new event.');
  if (!processing.workflow) throw badRequest('No workflow template in metadata');
  requireValues(catalogs, options.catalogs);
  const extended = [...catalogs].filter(([flavor]) => flavor !== options.catalogs.common.flavor);
  return { id, columns, catalogs: new Map(extended), acl, processing };
}
