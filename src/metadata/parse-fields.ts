import { type CatalogValues, isEmpty, type MetadataCatalog } from './catalog.ts';
import { findField, isFieldRequest, parseJson } from './parse.ts';
import {
  ENTRY_INCOMPLETE,
  FIELD_NOT_FOUND,
  FIELD_REQUIRED,
  type MetadataResource,
  NO_METADATA,
  UNREADABLE_FIELDS,
  UNREADABLE_VALUE,
} from './refusals.ts';
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
  if (resource === 'series' && !text?.trim()) throw NO_METADATA();
  const refuse = (reason: string) =>
    resource === 'event' ? UNREADABLE_FIELDS(text) : UNREADABLE_FIELDS(text, `'${reason}'`);
  const json = text?.trim() ? parseJson(text, refuse) : [];
  if (!Array.isArray(json)) throw refuse('it is not an array of fields');
  if (json.length === 0) throw UNREADABLE_FIELDS(text, 'there were no fields to update.');
  return json.map((entry) => {
    if (!isFieldRequest(entry)) throw ENTRY_INCOMPLETE(entry);
    const { id, value, required } = entry as FieldEntry & { required?: unknown };
    const blank = value === null || (typeof value === 'string' && value.trim() === '');
    if ((required === true || required === 'true') && blank) throw ENTRY_INCOMPLETE(entry);
    return { id, value };
  });
}

/**
 * Looks the entries of an update up in their catalog. Read-only fields are left out, whatever they hold; a date or time
 * that is none becomes empty; of repeated fields the last one counts.
 *
 * @param target the resource, and the flavor as the request spells it
 * @throws {HttpError} 404 for a field the catalog does not have
 * @throws {HttpError} 400 for a value that is not one of its field, or an empty one of a required field
 */
export function readFieldEntries(
  entries: readonly FieldEntry[],
  catalog: MetadataCatalog,
  target: { resource: MetadataResource; id: string; flavor: string },
): CatalogValues {
  const reading: Reading = {
    refuse: UNREADABLE_VALUE,
    emptyBadDates: true,
  };
  const values: CatalogValues = new Map();
  for (const { id, value } of entries) {
    const field = findField(catalog, id);
    if (!field) throw FIELD_NOT_FOUND(id, target.id, target.flavor);
    if (!field.readOnly) values.set(field.id, readValue(field, id, value, reading));
  }
  for (const field of catalog.fields) {
    const value = values.get(field.id);
    if (field.required && value !== undefined && isEmpty(value)) {
      throw FIELD_REQUIRED(target.resource, field.id, target.flavor);
    }
  }
  return values;
}
