import { badRequest } from '../http/errors.ts';
import { type CatalogValues, isEmpty, type MetadataCatalog } from './catalog.ts';
import { findField, isFieldRequest, parseJson } from './parse.ts';
import { entryIncomplete, excerpt, fieldNotFound, fieldRequired, type MetadataResource } from './refusals.ts';
import { type Reading, readValue } from './values.ts';

/** An entry of a list of fields, not yet looked up in a catalog. */
export interface FieldEntry {
  id: string;
  value: unknown;
}

/**
 * Reads the body of `PUT .../metadata?type=`, `[{id, value}]`, as far as that needs neither the resource nor the
 * catalog: its refusals come before theirs (compatibility 3.9, 4.7).
 *
 * @param text the form field `metadata`, if there is one
 * @throws {HttpError} 400
 */
export function parseFieldEntries(text: string | undefined, resource: MetadataResource): FieldEntry[] {
  if (resource === 'series' && !text?.trim()) {
    throw badRequest('Unable to update metadata for series as the metadata provided is empty.');
  }
  const prefix = unreadable(text);
  const refuse = (reason: string) =>
    badRequest(resource === 'event' ? prefix : `${prefix} because '${reason}'`);
  const json = text?.trim() ? parseJson(text, refuse) : [];
  if (!Array.isArray(json)) throw refuse('it is not an array of fields');
  if (json.length === 0) throw badRequest(`${prefix} because there were no fields to update.`);
  return json.map((entry) => {
    if (!isFieldRequest(entry)) throw entryIncomplete(entry);
    const { id, value, required } = entry as FieldEntry & { required?: unknown };
    if ((required === true || required === 'true') && typeof value === 'string' && value.trim() === '') {
      throw entryIncomplete(entry);
    }
    return { id, value };
  });
}

/**
 * Looks the entries of an update up in their catalog. Read-only fields are left out, whatever they hold; a date or time
 * that is none becomes empty; of repeated fields the last one counts.
 *
 * @param target the resource, and the flavor as the request spells it
 * @throws {UnknownField} 404 for a field the catalog does not have
 * @throws {HttpError} 400 for a value that is not one of its field, or an empty one of a required field
 */
export function readFieldEntries(
  entries: readonly FieldEntry[],
  catalog: MetadataCatalog,
  target: { resource: MetadataResource; id: string; flavor: string },
): CatalogValues {
  const reading: Reading = {
    refuse: (reason) => badRequest(`Unable to parse metadata fields because '${reason}'`),
    emptyBadDates: true,
  };
  const values: CatalogValues = new Map();
  for (const { id, value } of entries) {
    const field = findField(catalog, id);
    if (!field) throw fieldNotFound(id, target.id, target.flavor);
    if (!field.readOnly) values.set(field.id, readValue(field, id, value, reading));
  }
  for (const field of catalog.fields) {
    const value = values.get(field.id);
    if (field.required && value !== undefined && isEmpty(value)) {
      throw fieldRequired(target.resource, field, target.flavor);
    }
  }
  return values;
}

function unreadable(text: string | undefined): string {
  return `Unable to parse metadata fields as json from '${excerpt(text)}'`;
}
