import type { Insertable } from 'kysely';
import type { Event } from '../database/schema.ts';
import { badRequest } from '../http/errors.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import { parseDate, parseDuration, parseTime } from '../metadata/time.ts';

const IDENTIFIER = /^[A-Za-z0-9._~:@-]{1,255}$/;

/** The columns of an event that its default catalog fills. */
export type MetadataColumns = Omit<
  Insertable<Event>,
  'id' | 'creator' | 'archive_version' | 'processing_state' | 'inserted_at'
>;

/**
 * The columns for a new event from the values of `dublincore/episode`. Without a start, recording began now; with a
 * time only, today.
 *
 * @throws {HttpError} 400 for a date, time, duration or identifier that is none
 */
export function newEventColumns(values: CatalogValues, now: Date): MetadataColumns {
  const text = (id: string) => oneLine(values, id);
  const list = (id: string) => {
    const value = values.get(id) ?? [];
    return Array.isArray(value) ? value : [value];
  };
  const start = startOf(text('startDate'), text('startTime'), now);
  return {
    title: text('title'),
    description: text('description'),
    subjects: list('subjects'),
    language: text('language'),
    rights_holder: text('rightsHolder'),
    license: text('license'),
    presenters: list('creator'),
    contributors: list('contributor'),
    location: text('location'),
    source: text('source'),
    publisher: text('publisher'),
    series_id: text('isPartOf') || null,
    start_date: start,
    created: start,
    duration: durationOf(text('duration')),
  };
}

/** The identifier a client chose, if it did. @throws {HttpError} 400 */
export function chosenIdentifier(values: CatalogValues): string | undefined {
  const id = oneLine(values, 'identifier');
  if (id === '') return undefined;
  if (IDENTIFIER.test(id)) return id;
  throw unparsable('identifier', id, '1 to 255 letters, digits and . _ ~ : @ -');
}

function oneLine(values: CatalogValues, id: string): string {
  const value = values.get(id) ?? '';
  return Array.isArray(value) ? value.join(', ') : value.trim();
}

function startOf(date: string, time: string, now: Date): Date {
  if (date === '' && time === '') return new Date(Math.floor(now.getTime() / 1000) * 1000);
  const day = parseDate(date || now.toISOString());
  if (!day) throw unparsable('startDate', date, 'a date such as 2026-01-31');
  const sinceMidnight = parseTime(time || date.split('T')[1] || '00:00');
  if (sinceMidnight === undefined) throw unparsable('startTime', time, 'a time in UTC such as 13:30:00Z');
  return new Date(day.getTime() + sinceMidnight);
}

function durationOf(text: string): number | null {
  if (text === '') return null;
  const duration = parseDuration(text);
  if (duration === undefined) throw unparsable('duration', text, 'a duration such as 01:30:00');
  return duration;
}

function unparsable(id: string, value: string, allowed: string) {
  return badRequest(
    `Unable to parse event metadata because: 'the value of '${id}' is ${JSON.stringify(value.slice(0, 200))}; allowed is ${allowed}'`,
  );
}
