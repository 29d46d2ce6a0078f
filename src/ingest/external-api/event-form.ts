import { randomUUID } from 'node:crypto';
import { type AclEntry, parseAcl } from '../../access/acl.ts';
import type { NewTrack } from '../../events/tracks.ts';
import { offers } from '../../http/api-changes.ts';
import type { ApiVersion } from '../../http/version.ts';
import type { CatalogValues } from '../../metadata/catalog.ts';
import type { CatalogSet } from '../../metadata/catalogs.ts';
import { parseCatalogs } from '../../metadata/parse.ts';
import { type Processing, parseProcessing } from '../../workflows/processing.ts';
import type { ReceivedFile } from '../receive-form.ts';

/** Which flavor a track gets from the form field it arrives in. Files in other fields are not stored. */
export const FLAVORS: Readonly<Record<string, string>> = {
  presenter: 'presenter/source',
  presentation: 'presentation/source',
  audio: 'presenter-audio/source',
};

/** What a form that creates or updates an event holds beside files. Of the parts that are not there nothing is changed. */
export interface EventParts {
  acl: AclEntry[] | undefined;
  /** Values by flavor. */
  catalogs: Map<string, CatalogValues> | undefined;
  processing: Processing | undefined;
  /** Scheduling information as text; what it may say differs between a new event and one that is there. */
  scheduling: string | undefined;
}

/** How the fields of an event's form are read. */
export interface PartOptions {
  catalogs: CatalogSet;
  version: ApiVersion;
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
  options: PartOptions & { purpose: 'create' | 'update' },
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

/** The tracks in the files of an event's form, in the order of their parts. */
export function tracksOf(files: readonly ReceivedFile[]): NewTrack[] {
  return files.map(({ field, ...file }) => ({ ...file, id: randomUUID(), flavor: FLAVORS[field] ?? field }));
}
