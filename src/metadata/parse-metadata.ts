import type { HttpError } from '#platform/http/errors/errors.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { type CatalogValues, isEmpty, type MetadataCatalog, type MetadataField } from './catalog.ts';
import type { CatalogSet } from './catalogs.ts';
import { type Reading, readValue } from './field-values.ts';
import { CatalogRequest, FieldRequest } from './metadata.schemas.ts';
import {
  ENTRY_INCOMPLETE,
  FIELD_NOT_FOUND,
  FIELD_REQUIRED,
  FIELD_UNKNOWN,
  FLAVOR_MISSING,
  FLAVOR_UNKNOWN,
  FULL_UPDATE_UNPARSABLE,
  type MetadataResource,
  NO_METADATA,
  typeName,
  UNPARSABLE_METADATA,
  UNREADABLE_FIELDS,
  UNREADABLE_VALUE,
} from './metadata-refusals.ts';

const CatalogFlavor = CatalogRequest.pick({ flavor: true });

/**
 * Reads the `metadata` part of a new event or series, or of a full update: `[{flavor, fields: [{id, value}]}]`. The last one
 * of repeated fields counts. An update ignores read-only fields.
 *
 * @param unknown the refusal of an unknown field
 * @returns values by flavor, spelled as configured
 * @throws {HttpError} 400 with the sentences of compatibility 3.5 and 4.4
 */
export function parseCatalogs(
  text: string,
  set: CatalogSet,
  purpose: 'create' | 'update' = 'create',
  unknown: (id: string, flavor: string) => HttpError = FIELD_UNKNOWN,
): Map<string, CatalogValues> {
  const refuse = (reason: string) => UNPARSABLE_METADATA(set.resource, reason);
  const reading: Reading = { refuse, emptyBadDates: false };
  const json = parseJson(text, refuse);
  if (!Array.isArray(json)) throw refuse('it is not an array of catalogs');
  const catalogs = new Map<string, CatalogValues>();
  for (const entry of json) {
    if (!CatalogFlavor.safeParse(entry).success) throw FLAVOR_MISSING(set.resource);
    const { flavor, fields } = entry;
    if (!Array.isArray(fields ?? [])) throw refuse(`the fields of ${excerpt(flavor)} are not an array`);
    const catalog = set.find(flavor);
    if (!catalog) throw FLAVOR_UNKNOWN(set.resource, flavor);
    const values = valuesIn(catalogs, catalog.flavor);
    for (const item of fields ?? []) {
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
 * Reads the catalogs of `PUT /api/series/{id}`. Ignores unknown catalogs, catalogs without fields, and unknown, null or
 * read-only fields (compatibility 4.5).
 *
 * @returns values by flavor, spelled as configured
 * @throws {HttpError} 400 `Not able to parse the event metadata: ...`
 */
export function parseKnownCatalogs(text: string, set: CatalogSet): Map<string, CatalogValues> {
  const reading: Reading = { refuse: FULL_UPDATE_UNPARSABLE, emptyBadDates: true };
  const json = parseJson(text, () => FULL_UPDATE_UNPARSABLE(excerpt(text)));
  if (!Array.isArray(json)) throw FULL_UPDATE_UNPARSABLE(excerpt(text));
  const catalogs = new Map<string, CatalogValues>();
  for (const entry of json) {
    const catalog = CatalogFlavor.safeParse(entry).success ? set.find(entry.flavor) : undefined;
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

/** Refuses empty values of required fields. Missing fields are allowed. @throws {HttpError} 400 */
export function requireValues(catalogs: ReadonlyMap<string, CatalogValues>, set: CatalogSet): void {
  for (const [flavor, values] of catalogs) {
    const field = set.find(flavor)?.fields.find(isEmptied(values));
    if (field) throw FIELD_REQUIRED(set.resource, field.id, typeName(field));
  }
}

/** Parses JSON. @param refuse returns the error for a reason */
export function parseJson(text: string, refuse: (reason: string) => HttpError): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8 quotes the text around the error, and may cut a surrogate pair in half.
    throw refuse(error instanceof Error ? error.message.toWellFormed() : 'it is not JSON');
  }
}

/** A field in a request, not yet looked up in a catalog. */
interface FieldEntry {
  id: string;
  value: unknown;
}

/**
 * Reads the body of `PUT .../metadata?type=`, `[{id, value}]`, without the resource and the catalog: its refusals come
 * before theirs (compatibility 3.9, 4.7).
 *
 * @param text the form field `metadata`
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
    const { id, value, required } = entry;
    const blank = value === null || (typeof value === 'string' && value.trim() === '');
    if ((required === true || required === 'true') && blank) throw ENTRY_INCOMPLETE(entry);
    return { id, value };
  });
}

/**
 * Reads the entries of an update of one catalog. Ignores read-only fields; an invalid date or time becomes empty; the last
 * one of repeated fields counts.
 *
 * @param target the resource, and the flavor as the request spells it
 * @throws {HttpError} 404 for an unknown field; 400 for an invalid value, or an empty one of a required field
 */
export function readFieldEntries(
  entries: readonly FieldEntry[],
  catalog: MetadataCatalog,
  target: { resource: MetadataResource; id: string; flavor: string },
): CatalogValues {
  const reading: Reading = { refuse: UNREADABLE_VALUE, emptyBadDates: true };
  const values: CatalogValues = new Map();
  for (const { id, value } of entries) {
    const field = findField(catalog, id);
    if (!field) throw FIELD_NOT_FOUND(id, target.id, target.flavor);
    if (!field.readOnly) values.set(field.id, readValue(field, id, value, reading));
  }
  const emptied = catalog.fields.find(isEmptied(values));
  if (emptied) throw FIELD_REQUIRED(target.resource, emptied.id, target.flavor);
  return values;
}

function findField(catalog: MetadataCatalog, id: string): MetadataField | undefined {
  return catalog.fields.find((field) => field.id === id || field.singular === id);
}

function isFieldRequest(entry: unknown): entry is FieldEntry & { required?: unknown } {
  return FieldRequest.safeParse(entry).success;
}

/** Returns a test for required fields that the values leave empty. */
function isEmptied(values: CatalogValues): (field: MetadataField) => boolean {
  return ({ id, required }) => required && values.has(id) && isEmpty(values.get(id) ?? '');
}

function valuesIn(catalogs: Map<string, CatalogValues>, flavor: string): CatalogValues {
  const values: CatalogValues = catalogs.get(flavor) ?? new Map();
  catalogs.set(flavor, values);
  return values;
}
