import { badRequest, type HttpError } from '#platform/http/errors/errors.ts';
import { type FieldType, type FieldValue, type MetadataField, takesList } from './catalog.ts';
import { excerpt, unfit } from './refusals.ts';
import { parseDate, parseDateTime, parseDuration, parseTime } from './time.ts';

/** How long a text may be, in bytes of UTF-8: PostgreSQL's indexes, which have it, hold no longer ones. */
export const TEXT_BYTES = 2000;
const LONG_TEXT_BYTES = 100_000;
const LIST_ITEMS = 1000;

/** How a request takes values it cannot read. */
export interface Reading {
  /** The refusal of the whole request. */
  refuse(reason: string): HttpError;
  /** A date or time that is none counts as empty, instead of being refused (compatibility 3.9, PUT). */
  emptyBadDates: boolean;
}

interface Shape {
  fits(text: string): boolean;
  allowed: string;
}

const SHAPES: Partial<Record<FieldType, Shape>> = {
  boolean: { fits: (text) => text === 'true' || text === 'false', allowed: 'true or false' },
  number: { fits: (text) => /^-?\d{1,18}$/.test(text), allowed: 'a whole number of up to 18 digits' },
  date: { fits: (text) => parseDateTime(text) !== undefined, allowed: 'a date such as 2026-01-31T13:30:00Z' },
  start_date: { fits: (text) => parseDate(text) !== undefined, allowed: 'a date such as 2026-01-31' },
  start_time: { fits: (text) => parseTime(text) !== undefined, allowed: 'a time in UTC such as 13:30:00Z' },
  duration: { fits: (text) => parseDuration(text) !== undefined, allowed: 'a duration such as 01:30:00' },
};

const DATES: ReadonlySet<FieldType> = new Set(['date', 'start_date', 'start_time']);

/**
 * The value of a field as a request holds it: anything but a text is taken as its JSON text, null as the empty one, lists
 * may be given as such a text. Halves of surrogate pairs become U+FFFD.
 *
 * @param sentAs the identifier the request calls the field by
 * @throws {HttpError} 400, naming the field
 */
export function readValue(field: MetadataField, sentAs: string, value: unknown, reading: Reading): FieldValue {
  if (!takesList(field)) return readText(field, value, reading);
  const items = sentAs === field.singular ? listOfSingular(value) : listOf(field, value, reading);
  if (items.length > LIST_ITEMS) {
    throw reading.refuse(`the value of '${field.id}' has more than ${LIST_ITEMS} items`);
  }
  return items
    .map((item) => checked(stringify(item, field, reading).trim(), field, reading))
    .filter((item) => item !== '');
}

function readText(field: MetadataField, value: unknown, reading: Reading): string {
  const text = checked(stringify(value, field, reading), field, reading);
  const shape = SHAPES[field.type];
  if (!shape) return text;
  const word = text.trim();
  if (word === '') return word;
  if (shape.fits(word)) return field.type === 'start_date' ? dayOrInstant(word) : word;
  if (reading.emptyBadDates && DATES.has(field.type)) return '';
  throw reading.refuse(unfit(field.id, word, shape.allowed));
}

/** What follows the day counts only when both together are an instant. */
function dayOrInstant(word: string): string {
  return parseDateTime(word) ? word : word.slice(0, 10);
}

/** A text with commas between its items, or a list after all. */
function listOfSingular(value: unknown): unknown[] {
  if (value === null) return [];
  return listIn(value) ?? (typeof value === 'string' ? value.split(',') : [value]);
}

/** A list, or a text that holds one as JSON; null and the empty text are the empty list. */
function listOf(field: MetadataField, value: unknown, reading: Reading): unknown[] {
  const list = value === '' || value === null ? [] : listIn(value);
  if (list) return list;
  const reason = `${JSON.stringify(excerpt(value))} is not an array`;
  if (field.singular) {
    throw badRequest(`Unable to parse the '${field.id}' metadata array field because: ${reason}`);
  }
  throw reading.refuse(`the value of '${field.id}' must be an array, and ${reason}`);
}

function listIn(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.trimStart().startsWith('[')) return undefined;
  try {
    const inner: unknown = JSON.parse(value);
    return Array.isArray(inner) ? inner : undefined;
  } catch {
    return undefined;
  }
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair. */
function checked(text: string, field: MetadataField, reading: Reading): string {
  if (text.includes('\0')) throw reading.refuse(`the value of '${field.id}' holds a NUL character`);
  const limit = maxBytes(field);
  const wellFormed = text.toWellFormed();
  if (Buffer.byteLength(wellFormed) > limit) {
    throw reading.refuse(`the value of '${field.id}' is longer than ${limit} bytes of UTF-8`);
  }
  return wellFormed;
}

function maxBytes(field: MetadataField): number {
  return field.maxBytes ?? (field.type === 'text_long' ? LONG_TEXT_BYTES : TEXT_BYTES);
}

/** Whether indexes hold any value of a text in their order. */
export function isIndexable(field: MetadataField): boolean {
  return maxBytes(field) <= TEXT_BYTES;
}

function stringify(value: unknown, field: MetadataField, reading: Reading): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.parse reads more levels than JSON.stringify can write.
    throw reading.refuse(`the value of '${field.id}' is nested too deeply`);
  }
}
