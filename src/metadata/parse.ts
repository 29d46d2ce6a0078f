import type { HttpError } from '#platform/http/errors/errors.ts';
import { type CatalogValues, isEmpty, type MetadataCatalog, type MetadataField } from './catalog.ts';
import type { CatalogSet } from './catalogs.ts';
import {
  ENTRY_INCOMPLETE,
  excerpt,
  FIELD_NOT_FOUND,
  FIELD_REQUIRED,
  FIELD_UNKNOWN,
  FLAVOR_MISSING,
  FLAVOR_UNKNOWN,
  type MetadataResource,
  NO_METADATA,
  NOT_PARSABLE,
  typeName,
  UNPARSABLE_METADATA,
  UNREADABLE_FIELDS,
  UNREADABLE_VALUE,
} from './refusals.ts';
import { CatalogRequest, FieldRequest } from './schemas.ts';
import { type Reading, readValue } from './values.ts';

/**
 * Reads the `metadata` part of a new event or series, or of a full update: `[{flavor, fields: [{id, value}]}]`. Of
 * repeated fields the last one counts. Values of read-only fields are left out of an update.
 *
 * @returns values by flavor, spelled as configured; only the fields that are given
 * @throws {HttpError} 400 with the sentences clients match on (compatibility 3.5, 4.4)
 *
 * @param unknown the refusal of a field that its catalog does not have
 */
export function parseCatalogs(
  text: string,
  set: CatalogSet,
  purpose: 'create' | 'update' = 'create',
  unknown: (id: string, flavor: string) => HttpError = FIELD_UNKNOWN,
): Map<string, CatalogValues> {
  const reading: Reading = {
    refuse: (reason) => UNPARSABLE_METADATA(set.resource, reason),
    emptyBadDates: false,
  };
  const json = parseJson(text, reading.refuse);
  if (!Array.isArray(json)) throw reading.refuse('it is not an array of catalogs');
  const catalogs = new Map<string, CatalogValues>();
  for (const entry of json) {
    const { flavor, fields } = readCatalogEntry(entry, set, reading);
    const catalog = set.find(flavor);
    if (!catalog) throw FLAVOR_UNKNOWN(set.resource, flavor);
    const values = valuesIn(catalogs, catalog.flavor);
    for (const item of fields) {
      if (!isFieldRequest(item)) throw ENTRY_INCOMPLETE(item);
      const field = findField(catalog, item.id);
      if (!field || (field.outputOnly && purpose === 'create')) throw unknown(item.id, catalog.flavor);
      if (field.readOnly && purpose === 'update') continue;
      values.set(field.id, readValue(field, item.id, item.value, reading));
    }
  }
  return catalogs;
}

/**
 * Reads the catalogs of `PUT /api/series/{id}`, which ignores what it does not know: catalogs with an unknown flavor or
 * without fields, and unknown, null or read-only fields (compatibility 4.5).
 *
 * @returns values by flavor, spelled as configured
 * @throws {HttpError} 400 `Not able to parse the event metadata: ...`
 */
export function parseKnownCatalogs(text: string, set: CatalogSet): Map<string, CatalogValues> {
  const reading: Reading = { refuse: NOT_PARSABLE, emptyBadDates: true };
  const json = parseJson(text, () => NOT_PARSABLE(excerpt(text)));
  if (!Array.isArray(json)) throw NOT_PARSABLE(excerpt(text));
  const catalogs = new Map<string, CatalogValues>();
  for (const entry of json) {
    const parsed = CatalogRequest.pick({ flavor: true }).safeParse(entry);
    const catalog = parsed.success ? set.find(parsed.data.flavor) : undefined;
    if (!catalog || !Array.isArray(entry.fields)) continue;
    const values = valuesIn(catalogs, catalog.flavor);
    for (const item of entry.fields) {
      const field = isFieldRequest(item) && item.value !== null ? findField(catalog, item.id) : undefined;
      if (!field || field.readOnly) continue;
      values.set(field.id, readValue(field, item.id, item.value, reading));
    }
  }
  return catalogs;
}

/**
 * Refuses values that leave a required field empty. A field that is not given at all is none of them.
 *
 * @throws {HttpError} 400
 */
export function requireValues(catalogs: ReadonlyMap<string, CatalogValues>, set: CatalogSet): void {
  for (const [flavor, values] of catalogs) {
    for (const field of set.find(flavor)?.fields ?? []) {
      const value = values.get(field.id);
      if (field.required && value !== undefined && isEmpty(value))
        throw FIELD_REQUIRED(set.resource, field.id, typeName(field));
    }
  }
}

/** A field by one of the identifiers that requests call it by. */
function findField(catalog: MetadataCatalog, id: string): MetadataField | undefined {
  return catalog.fields.find((field) => field.id === id || field.singular === id);
}

/** Whether an entry of a list of fields has what it needs. */
function isFieldRequest(entry: unknown): entry is { id: string; value: unknown } {
  return FieldRequest.safeParse(entry).success;
}

/** @throws what `refuse` makes of the reason */
function parseJson(text: string, refuse: (reason: string) => HttpError): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8 quotes the text around the fault, and may cut a character in half.
    throw refuse(error instanceof Error ? error.message.toWellFormed() : 'it is not JSON');
  }
}

function readCatalogEntry(entry: unknown, set: CatalogSet, { refuse }: Reading): { flavor: string; fields: unknown[] } {
  const parsed = CatalogRequest.pick({ flavor: true }).safeParse(entry);
  if (!parsed.success) throw FLAVOR_MISSING(set.resource);
  const { flavor, fields = [] } = entry as { flavor: string; fields?: unknown };
  if (fields !== null && !Array.isArray(fields)) {
    throw refuse(`the fields of ${excerpt(flavor)} are not an array`);
  }
  return { flavor, fields: fields ?? [] };
}

function valuesIn(catalogs: Map<string, CatalogValues>, flavor: string): CatalogValues {
  const values: CatalogValues = catalogs.get(flavor) ?? new Map();
  catalogs.set(flavor, values);
  return values;
}

/** An entry of a list of fields, not yet looked up in a catalog. */
interface FieldEntry {
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
