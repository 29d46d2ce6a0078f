import { badRequest, HttpError } from '../http/errors.ts';
import type { FieldType, MetadataField } from './catalog.ts';

/** What has metadata. */
export type MetadataResource = 'event' | 'series';

/** What the reference calls types in its sentences, where it is not their name in capitals. */
const TYPE_NAMES: Partial<Record<FieldType, string>> = { list: 'ITERABLE_TEXT', number: 'LONG' };

/** A request names a field that its catalog does not have. Some endpoints answer it with another status. */
export class UnknownField extends HttpError {
  override name = 'UnknownField';
}

/** 400 for metadata of a new resource that cannot be understood. */
export function unparsableMetadata(resource: MetadataResource, reason: string): HttpError {
  const subject = resource === 'event' ? 'event metadata because:' : 'metadata because';
  return badRequest(`Unable to parse ${subject} '${reason}'`);
}

/** 400 for a catalog of a new resource without a flavor. */
export function flavorMissing(resource: MetadataResource): HttpError {
  return badRequest(
    `Unable to create new ${resource} as no flavor was given for one of the metadata collections`,
  );
}

/** 400 for a catalog of a new resource that is not configured. */
export function flavorUnknown(resource: MetadataResource, flavor: string): HttpError {
  const adapter = resource === 'event' ? 'EventCatalogUIAdapter' : 'SeriesCatalogUIAdapter';
  return badRequest(`Unable to find an ${adapter} with Flavor '${excerpt(flavor)}'`);
}

/** 400 for a field of a new resource that its catalog does not have. */
export function fieldUnknown(id: string, flavor: string): UnknownField {
  return new UnknownField(
    400,
    `Cannot find a metadata field with id '${excerpt(id)}' from Catalog with Flavor '${flavor}'.`,
  );
}

/** 404 for a field in an update of one catalog that the catalog does not have. It says event also of a series. */
export function fieldNotFound(id: string, resourceId: string, flavor: string): UnknownField {
  return new UnknownField(
    404,
    `Cannot find a metadata field with id '${excerpt(id)}' from event with id '${resourceId}' and the metadata type '${flavor}'.`,
  );
}

/** 400 for an entry of `fields` without an identifier or a value. */
export function entryIncomplete(entry: unknown): HttpError {
  const { id, value } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  return badRequest(
    `One of the metadata fields is missing an id or value. The id was '${excerpt(id)}' and the value was '${excerpt(value)}'.`,
  );
}

/**
 * 400 for a required field that is empty.
 *
 * @param type what the sentence calls the type of the metadata; the type of the field by default
 */
export function fieldRequired(
  resource: MetadataResource,
  field: MetadataField,
  type: string = TYPE_NAMES[field.type] ?? field.type.toUpperCase(),
): HttpError {
  return badRequest(
    `The ${resource} metadata field with id '${field.id}' and the metadata type '${type}' is required and can not be empty!.`,
  );
}

const EXCERPT_LENGTH = 500;

/** What was sent, as it stands in a sentence: its beginning, and nothing for what is missing. */
export function excerpt(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.slice(0, EXCERPT_LENGTH).toWellFormed();
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return String(value).slice(0, EXCERPT_LENGTH);
}
