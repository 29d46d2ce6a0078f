import { refusal } from '#platform/http/errors/errors.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import type { FieldType, MetadataField } from './catalog.ts';

export type MetadataResource = 'event' | 'series';

/** Identifier of the event in examples. */
const EVENT_ID = '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21';

/** Names of types in sentences, if they differ from the type in capitals. */
const TYPE_NAMES: Partial<Record<FieldType, string>> = { list: 'ITERABLE_TEXT', number: 'LONG' };

/** Returns a clause that says why a value is invalid. @param allowed the valid values, as words after "allowed is" */
export function invalidValueReason(id: string, value: string, allowed: string): string {
  return `the value of '${id}' is ${JSON.stringify(excerpt(value))}; allowed is ${allowed}`;
}

/** Unreadable metadata of a new resource. */
export const UNPARSABLE_METADATA = refusal(
  400,
  (resource: MetadataResource, reason: string) =>
    `Unable to parse ${resource === 'event' ? 'event metadata because:' : 'metadata because'} '${reason}'`,
  ['event', 'it is not an array of catalogs'],
);

export const FLAVOR_MISSING = refusal(
  400,
  (resource: MetadataResource) =>
    `Unable to create new ${resource} as no flavor was given for one of the metadata collections`,
  ['event'],
);

/** An unknown catalog of a new resource. */
export const FLAVOR_UNKNOWN = refusal(
  400,
  (resource: MetadataResource, flavor: string) =>
    `Unable to find an ${resource === 'event' ? 'EventCatalogUIAdapter' : 'SeriesCatalogUIAdapter'} with Flavor '${excerpt(flavor)}'`,
  ['event', 'some/flavor'],
);

/** An unknown field of a new resource. */
export const FIELD_UNKNOWN = refusal(
  400,
  (id: string, flavor: string) =>
    `Cannot find a metadata field with id '${excerpt(id)}' from Catalog with Flavor '${flavor}'.`,
  ['colour', 'dublincore/episode'],
);

/** An unknown field in an update of one catalog. The sentence says "event" for series, too. */
export const FIELD_NOT_FOUND = refusal(
  404,
  (id: string, resourceId: string, flavor: string) =>
    `Cannot find a metadata field with id '${excerpt(id)}' from event with id '${resourceId}' and the metadata type '${flavor}'.`,
  ['colour', EVENT_ID, 'dublincore/episode'],
);

export const NO_CATALOG = refusal(
  404,
  (resource: MetadataResource, type: string, id: string) =>
    `Cannot find a catalog with type '${type}' for ${resource} with id '${id}'.`,
  ['event', 'some/flavor', EVENT_ID],
);

export const MANDATORY_CATALOG = refusal(
  403,
  (resource: MetadataResource, type: string, id: string) =>
    `Unable to delete mandatory metadata catalog with type '${type}' for ${resource} '${id}'`,
  ['event', 'dublincore/episode', EVENT_ID],
);

export const ENTRY_INCOMPLETE = refusal(
  400,
  (entry: unknown) => {
    const { id, value } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
    return `One of the metadata fields is missing an id or value. The id was '${excerpt(id)}' and the value was '${excerpt(value)}'.`;
  },
  [{ id: 'title' }],
);

/** An empty required field. `type` is the type of the field or, in updates of one catalog, the flavor. */
export const FIELD_REQUIRED = refusal(
  400,
  (resource: MetadataResource, id: string, type: string) =>
    `The ${resource} metadata field with id '${id}' and the metadata type '${type}' is required and can not be empty!.`,
  ['event', 'title', 'TEXT'],
);

/** Returns the name of a type in sentences. */
export function typeName({ type }: MetadataField): string {
  return TYPE_NAMES[type] ?? type.toUpperCase();
}

/** An unreadable full update. The sentence says "event" for series, too. */
export const FULL_UPDATE_UNPARSABLE = refusal(
  400,
  (detail: string) => `Not able to parse the event metadata: ${detail}`,
  ['it is not JSON'],
);

/** An unreadable list of fields in an update. */
export const UNREADABLE_FIELDS = refusal(
  400,
  (text: string | undefined, reason?: string) =>
    `Unable to parse metadata fields as json from '${excerpt(text)}'${reason === undefined ? '' : ` because ${reason}`}`,
  ['[]', 'there were no fields to update.'],
);

/** An invalid value in an update. */
export const UNREADABLE_VALUE = refusal(
  400,
  (reason: string) => `Unable to parse metadata fields because '${reason}'`,
  ["the value of 'duration' is no duration"],
);

export const NO_METADATA = refusal(400, 'Unable to update metadata for series as the metadata provided is empty.');
