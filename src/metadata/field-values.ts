import { badRequest, type HttpError } from '#platform/http/errors/errors.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { tryParseJson } from '#platform/text/json.ts';
import { type FieldType, type FieldValue, type MetadataField, takesList } from './catalog.ts';
import { parseDate, parseDateTime, parseDuration, parseTime } from './date-time.ts';
import { invalidValueReason } from './metadata-refusals.ts';

/** The maximum length of a text that fits into PostgreSQL's indexes. */
export const TEXT_BYTES = 2000;
const LONG_TEXT_BYTES = 100_000;
const LIST_ITEMS = 1000;

/** The handling of unreadable values. */
export interface Reading {
  /** Returns the error that refuses the request. */
  refuse(reason: string): HttpError;
  /** True to read an invalid date or time as empty instead of refusing it (compatibility 3.9, PUT). */
  emptyBadDates: boolean;
  /** True to cut texts that are too long instead of refusing them. */
  cutsLongTexts?: boolean;
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
 * Reads the value of a field in a request. Values other than texts become their JSON text, null becomes empty, and lists may
 * be sent as JSON text. Lone surrogates become U+FFFD.
 *
 * @param sentAs the identifier of the field in the request
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
  // What follows a day counts only if both together are an instant.
  if (shape.fits(word)) return field.type === 'start_date' && !parseDateTime(word) ? word.slice(0, 10) : word;
  if (reading.emptyBadDates && DATES.has(field.type)) return '';
  throw reading.refuse(invalidValueReason(field.id, word, shape.allowed));
}

/** Reads a comma-separated text or a list. */
function listOfSingular(value: unknown): unknown[] {
  if (value === null) return [];
  return listIn(value) ?? (typeof value === 'string' ? value.split(',') : [value]);
}

/** Reads a list, or the JSON text of one. Null and the empty text are the empty list. */
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
  const inner = tryParseJson(value);
  return Array.isArray(inner) ? inner : undefined;
}

/** Checks or cuts the length, and rejects NUL. PostgreSQL stores neither NUL nor lone surrogates. */
function checked(text: string, field: MetadataField, reading: Reading): string {
  if (text.includes('\0')) throw reading.refuse(`the value of '${field.id}' holds a NUL character`);
  const limit = maxBytes(field);
  const wellFormed = text.toWellFormed();
  if (Buffer.byteLength(wellFormed) <= limit) return wellFormed;
  if (reading.cutsLongTexts) return wholeCharacters(Buffer.from(wellFormed).subarray(0, limit));
  throw reading.refuse(`the value of '${field.id}' is longer than ${limit} bytes of UTF-8`);
}

/** Decodes UTF-8 without the bytes of a character that is not complete at its end. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}

function maxBytes(field: MetadataField): number {
  return field.maxBytes ?? (field.type === 'text_long' ? LONG_TEXT_BYTES : TEXT_BYTES);
}

/** True if every value of the field fits into an ordered index. */
export function isIndexable(field: MetadataField): boolean {
  return maxBytes(field) <= TEXT_BYTES;
}

function stringify(value: unknown, field: MetadataField, reading: Reading): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.stringify fails on nesting that JSON.parse accepts.
    throw reading.refuse(`the value of '${field.id}' is nested too deeply`);
  }
}
