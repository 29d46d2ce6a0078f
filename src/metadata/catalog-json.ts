import {
  type CatalogValues,
  type FieldType,
  type FieldValue,
  type MetadataCatalog,
  type MetadataField,
  takesList,
} from './catalog.ts';
import { formatDuration, parseDateTime, parseDuration, parseTime } from './date-time.ts';
import type { CatalogJson, FieldJson } from './metadata.schemas.ts';

const LOCKED = 'EVENTS.EVENTS.DETAILS.METADATA.LOCKED.RUNNING';
const DAY_MS = 86_400_000;

export interface CatalogOptions {
  /** A running workflow keeps the catalog from being changed. */
  locked?: boolean;
  /** The `/metadata` endpoints and `withmetadata` differ in a few fields (compatibility 3.9). */
  form?: 'metadata' | 'withmetadata';
}

/** Types with a different name in JSON. */
const JSON_TYPES: Partial<Record<FieldType, FieldJson['type']>> = {
  list: 'text',
  start_date: 'date',
  start_time: 'time',
  duration: 'text',
};

/** Returns the JSON of a catalog (contract 2.6). `withmetadata` omits the collections. */
export function catalogJson(
  catalog: MetadataCatalog,
  values: CatalogValues,
  options: CatalogOptions = {},
): CatalogJson {
  const { flavor, title } = catalog;
  return {
    flavor,
    title,
    label: title,
    fields: fieldsJson(catalog, values, options),
    ...(options.locked && { locked: LOCKED }),
  };
}

/** Returns the JSON of the fields of a catalog. Missing values are empty. */
export function fieldsJson(
  catalog: MetadataCatalog,
  values: CatalogValues,
  { locked = false, form = 'metadata' }: CatalogOptions = {},
): FieldJson[] {
  const start = startOf(catalog, values);
  return catalog.fields
    .filter(({ type }) => form === 'metadata' || type !== 'start_time')
    .map((field) => ({
      id: field.id,
      label: field.label,
      value: valueJson(field, values.get(field.id), { start, form }),
      type: form === 'metadata' && field.type === 'ordered_text' ? 'text' : typeJson(field.type),
      readOnly: locked || field.readOnly,
      required: field.required,
      ...(field.translatable !== undefined && { translatable: field.translatable }),
      ...(field.delimiter !== undefined && { delimiter: field.delimiter }),
      ...(form === 'metadata' && field.collection && { collection: field.collection }),
    }));
}

/** Returns the name of a type in JSON. */
export function typeJson(type: FieldType): FieldJson['type'] {
  return JSON_TYPES[type] ?? (type as FieldJson['type']);
}

function valueJson(
  field: MetadataField,
  value: FieldValue = '',
  { start, form }: { start: Date | undefined; form: CatalogOptions['form'] },
): FieldJson['value'] {
  if (takesList(field)) return Array.isArray(value) ? value : [value].filter((item) => item !== '');
  const text = Array.isArray(value) ? value.join(', ') : value;
  switch (field.type) {
    case 'boolean':
      return text === '' ? '' : text === 'true';
    case 'date':
      return parseDateTime(text)?.toISOString() ?? '';
    case 'start_date':
      return form === 'metadata' ? (start?.toISOString().slice(0, 10) ?? '') : (start?.toISOString() ?? '');
    case 'start_time':
      return start?.toISOString().slice(11, 16) ?? '';
    case 'duration':
      // Whole seconds; an unknown duration is zero.
      return formatDuration(Math.floor((parseDuration(text) ?? 0) / 1000) * 1000);
    default:
      return text;
  }
}

/** Returns the start from the two fields that hold it. */
function startOf(catalog: MetadataCatalog, values: CatalogValues): Date | undefined {
  const text = (type: FieldType) => {
    const field = catalog.fields.find((candidate) => candidate.type === type);
    const value = field && values.get(field.id);
    return typeof value === 'string' ? value : '';
  };
  const date = parseDateTime(text('start_date'));
  const time = parseTime(text('start_time'));
  if (!date || time === undefined) return date;
  return new Date(Math.floor(date.getTime() / DAY_MS) * DAY_MS + time);
}
