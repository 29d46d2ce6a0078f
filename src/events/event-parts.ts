import { type AclEntry, parseAcl } from '../access/acl.ts';
import { offers } from '../http/api-changes.ts';
import type { ApiVersion } from '../http/version.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { parseCatalogs } from '../metadata/parse.ts';
import { type Processing, parseProcessing } from '../workflows/processing.ts';

/** What a form that creates or updates an event holds beside files. Of the parts that are not there nothing is changed. */
export interface EventParts {
  acl: AclEntry[] | undefined;
  /** Values by flavor. */
  catalogs: Map<string, CatalogValues> | undefined;
  processing: Processing | undefined;
  /** Scheduling information as text; what it may say differs between a new event and one that is there. */
  scheduling: string | undefined;
}

/**
 * Reads the parts `acl`, `metadata`, `processing` and `scheduling`; an empty one counts as absent, and others are
 * ignored. Version 1.0.0 does not know `scheduling`.
 *
 * @throws {HttpError} 400 with the sentences clients know (compatibility 3.5, order 0)
 * @throws {UnknownField} for a metadata field that its catalog does not have
 */
export function parseEventParts(
  fields: ReadonlyMap<string, string>,
  options: { catalogs: CatalogSet; version: ApiVersion; purpose: 'create' | 'update' },
): EventParts {
  const part = (name: string) => fields.get(name)?.trim() || undefined;
  const [acl, metadata, processing] = [part('acl'), part('metadata'), part('processing')];
  const scheduling = offers(options.version, 'eventParameters', 'scheduling')
    ? part('scheduling')
    : undefined;
  return {
    acl: acl === undefined ? undefined : parseAcl(acl),
    catalogs: metadata === undefined ? undefined : parseCatalogs(metadata, options.catalogs, options.purpose),
    processing: processing === undefined ? undefined : parseProcessing(processing),
    scheduling,
  };
}
