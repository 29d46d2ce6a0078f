import { badRequest } from '../http/errors.ts';
import {
  type CatalogValues,
  type FieldValue,
  type MetadataCatalog,
  type MetadataField,
  takesList,
} from './catalog.ts';

/**
 * Reads the `metadata` part of a new event: `[{flavor, fields: [{id, value}]}]`. The messages are those that clients
 * match on (compatibility 3.5).
 *
 * @returns values by flavor
 * @throws {HttpError} 400
 */
export function parseEventCatalogs(
  text: string,
  known: readonly MetadataCatalog[],
): Map<string, CatalogValues> {
  const json = parseJson(text);
  if (!Array.isArray(json)) throw unparsable('it is not an array of catalogs');
  const catalogs = new Map<string, CatalogValues>();
  for (const entry of json) {
    if (!isObject(entry) || typeof entry.flavor !== 'string' || entry.flavor.trim() === '') {
      throw badRequest(
        'Unable to create new event as no flavor was given for one of the metadata collections',
      );
    }
    const flavor = entry.flavor.trim().toLowerCase();
    const catalog = known.find((candidate) => candidate.flavor.toLowerCase() === flavor);
    if (!catalog) throw badRequest(`Unable to find an EventCatalogUIAdapter with Flavor '${entry.flavor}'`);
    const values = catalogs.get(catalog.flavor) ?? new Map();
    for (const [id, value] of parseFields(entry.fields ?? [], catalog)) values.set(id, value);
    catalogs.set(catalog.flavor, values);
  }
  return catalogs;
}

function parseFields(fields: unknown, catalog: MetadataCatalog): CatalogValues {
  if (!Array.isArray(fields)) throw unparsable(`the fields of ${catalog.flavor} are not an array`);
  const values: CatalogValues = new Map();
  for (const entry of fields) {
    const id = isObject(entry) && typeof entry.id === 'string' ? entry.id : '';
    const value = isObject(entry) ? entry.value : undefined;
    if (id === '' || value === undefined || value === null) {
      throw badRequest(
        `One of the metadata fields is missing an id or value. The id was '${id}' and the value was '${stringify(value)}'.`,
      );
    }
    const field = catalog.fields.find((candidate) => candidate.id === id || candidate.singular === id);
    if (!field) {
      throw badRequest(
        `Cannot find a metadata field with id '${id}' from Catalog with Flavor '${catalog.flavor}'.`,
      );
    }
    values.set(field.id, fieldValue(field, id, value));
  }
  return values;
}

function fieldValue(field: MetadataField, sentAs: string, value: unknown): FieldValue {
  if (!takesList(field)) {
    const text = stringify(value);
    if (field.required && text.trim() === '') throw required(field);
    return clean(text, field.id);
  }
  if (sentAs === field.singular && !Array.isArray(value)) {
    return split(stringify(value)).map((item) => clean(item, field.id));
  }
  return list(field, value)
    .map((item) => clean(stringify(item).trim(), field.id))
    .filter((item) => item !== '');
}

/** A list, or a string that holds one as JSON; the empty string is the empty list. */
function list(field: MetadataField, value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (value === '') return [];
  if (typeof value === 'string') {
    try {
      const inner: unknown = JSON.parse(value);
      if (Array.isArray(inner)) return inner;
    } catch {
      // Falls through: it is no list either way.
    }
  }
  const reason = `${JSON.stringify(value).slice(0, 200)} is not an array`;
  if (field.id === 'subjects')
    throw badRequest(`Unable to parse the 'subjects' metadata array field because: ${reason}`);
  throw unparsable(`the value of '${field.id}' must be an array, and ${reason}`);
}

function required(field: MetadataField) {
  return badRequest(
    `The event metadata field with id '${field.id}' and the metadata type '${field.type.toUpperCase()}' is required and can not be empty!.`,
  );
}

function unparsable(reason: string) {
  return badRequest(`Unable to parse event metadata because: '${reason}'`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unparsable(error instanceof Error ? error.message : 'it is not JSON');
  }
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair. */
function clean(text: string, id: string): string {
  if (text.includes('\0')) throw unparsable(`the value of '${id}' holds a NUL character`);
  return text.toWellFormed();
}

function split(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function stringify(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
