import { refusal } from '#platform/http/errors/refusal.ts';
import type { FieldType, MetadataField } from './catalog.ts';

/** What has metadata. */
export type MetadataResource = 'event' | 'series';

const EXCERPT_LENGTH = 500;

/** What the reference calls types in its sentences, where it is not their name in capitals. */
const TYPE_NAMES: Partial<Record<FieldType, string>> = { list: 'ITERABLE_TEXT', number: 'LONG' };

/** Why a value is none of its field. @param allowed what the field takes: words that follow "allowed is" */
export function unfit(id: string, value: string, allowed: string): string {
  return `the value of '${id}' is ${JSON.stringify(excerpt(value))}; allowed is ${allowed}`;
}

/** Metadata of a new resource that cannot be understood. */
export const UNPARSABLE_METADATA = refusal(
  400,
  (resource: MetadataResource, reason: string) =>
    `Unable to parse ${resource === 'event' ? 'event metadata because:' : 'metadata because'} '${reason}'`,
  ['event', 'it is not an array of catalogs'],
);

/** A catalog of a new resource without a flavor. */
export const FLAVOR_MISSING = refusal(
  400,
  (resource: MetadataResource) =>
    `Unable to create new ${resource} as no flavor was given for one of the metadata collections`,
  ['event'],
);

/** A catalog of a new resource that is not configured. */
export const FLAVOR_UNKNOWN = refusal(
  400,
  (resource: MetadataResource, flavor: string) =>
    `Unable to find an ${resource === 'event' ? 'EventCatalogUIAdapter' : 'SeriesCatalogUIAdapter'} with Flavor '${excerpt(flavor)}'`,
  ['event', 'some/flavor'],
);

/** A field of a new resource that its catalog does not have. */
export const FIELD_UNKNOWN = refusal(
  400,
  (id: string, flavor: string) =>
    `Cannot find a metadata field with id '${excerpt(id)}' from Catalog with Flavor '${flavor}'.`,
  ['colour', 'dublincore/episode'],
);

/** A field in an update of one catalog that the catalog does not have. It says event also of a series. */
export const FIELD_NOT_FOUND = refusal(
  404,
  (id: string, resourceId: string, flavor: string) =>
    `Cannot find a metadata field with id '${excerpt(id)}' from event with id '${resourceId}' and the metadata type '${flavor}'.`,
  ['colour', '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21', 'dublincore/episode'],
);

/** An entry of `fields` without an identifier or a value. */
export const ENTRY_INCOMPLETE = refusal(
  400,
  (entry: unknown) => {
    const { id, value } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
    return `One of the metadata fields is missing an id or value. The id was '${excerpt(id)}' and the value was '${excerpt(value)}'.`;
  },
  [{ id: 'title' }],
);

/** A required field that is empty; the type of the field, or what the sentence calls the type of the metadata. */
export const FIELD_REQUIRED = refusal(
  400,
  (resource: MetadataResource, id: string, type: string) =>
    `The ${resource} metadata field with id '${id}' and the metadata type '${type}' is required and can not be empty!.`,
  ['event', 'title', 'TEXT'],
);

/** What sentences call the type of a field. */
export function typeName({ type }: MetadataField): string {
  return TYPE_NAMES[type] ?? type.toUpperCase();
}

/** A full update that cannot be understood; it says event also of a series. */
export const NOT_PARSABLE = refusal(400, (detail: string) => `Not able to parse the event metadata: ${detail}`, [
  'it is not JSON',
]);

/** A list of fields that an update cannot be made of. */
export const UNREADABLE_FIELDS = refusal(
  400,
  (text: string | undefined, reason?: string) =>
    `Unable to parse metadata fields as json from '${excerpt(text)}'${reason === undefined ? '' : ` because ${reason}`}`,
  ['[]', 'there were no fields to update.'],
);

/** A value in an update that is none of its field. */
export const UNREADABLE_VALUE = refusal(
  400,
  (reason: string) => `Unable to parse metadata fields because '${reason}'`,
  ["the value of 'duration' is no duration"],
);

/** Values without which nothing can be updated. */
export const NO_METADATA = refusal(400, 'Unable to update metadata for series as the metadata provided is empty.');

/** What was sent, as it stands in a sentence: its beginning, and nothing for what is missing. */
export function excerpt(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.slice(0, EXCERPT_LENGTH).toWellFormed();
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return String(value).slice(0, EXCERPT_LENGTH);
}
