import type { Insertable, Selectable, Updateable } from 'kysely';
import type { CatalogValues } from '#metadata/catalog.ts';
import { type Columns, columnsOf, differingColumns, givenColumns, textIn, valuesOf } from '#metadata/core-fields.ts';
import { formatDuration, parseDateTime, parseDuration, parseTime } from '#metadata/date-time.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import { invalidValueReason, UNPARSABLE_METADATA } from '#metadata/metadata-refusals.ts';
import type { Event } from '#platform/database/schema.ts';

type EventField = (typeof EVENT_CORE_FIELDS)[number];

const DAY_MS = 24 * 60 * 60 * 1000;
const WITHOUT_SECONDS = /^(\d{2}:\d{2})Z?$/;
/** Rejects `.` and `..`, which would change the path of a URL. */
const IDENTIFIER = /^(?!\.\.?$)[A-Za-z0-9._~:@-]{1,255}$/;

/** The columns of an event that hold its default catalog. */
export type MetadataColumns = Columns<EventField> & Pick<Selectable<Event>, 'series_id' | 'start_date' | 'duration'>;

/**
 * Converts values of `dublincore/episode` to the columns of a new event. `created` defaults to the start.
 *
 * @throws {HttpError} 400 for an invalid date, time or duration
 */
export function newEventColumns(
  values: CatalogValues,
  now: Date,
): MetadataColumns & Pick<Insertable<Event>, 'created'> {
  const start = startOfNew(textIn(values, 'startDate'), textIn(values, 'startTime'), now);
  return {
    ...columnsOf(EVENT_CORE_FIELDS, values),
    series_id: chosenSeries(values) ?? null,
    start_date: start,
    duration: durationOf(textIn(values, 'duration')),
    created: instantOf('created', textIn(values, 'created'), 'a date such as 2026-01-31T13:30:00Z') ?? start,
  };
}

/**
 * Returns the columns of an event that values of `dublincore/episode` change. Missing fields, read-only fields and an empty
 * start change nothing. Writing back what `episodeValues` shows changes nothing either, although it shows no milliseconds.
 * A new start also sets `created`.
 *
 * @throws {HttpError} 400 for an invalid date, time or duration
 */
export function changedColumns(values: CatalogValues, current: MetadataColumns): Updateable<Event> {
  const changes: Updateable<Event> = {};
  const series = chosenSeries(values);
  if (series !== undefined && series !== current.series_id) changes.series_id = series;
  const start = startAfter(textIn(values, 'startDate'), textIn(values, 'startTime'), current.start_date);
  if (start.getTime() !== current.start_date.getTime()) {
    changes.start_date = start;
    changes.created = start;
  }
  if (values.has('duration')) {
    const duration = durationOf(textIn(values, 'duration'));
    const shown = Math.floor((current.duration ?? 0) / 1000) * 1000;
    if (duration !== shown && duration !== current.duration) changes.duration = duration;
  }
  return { ...changes, ...differingColumns(givenColumns(EVENT_CORE_FIELDS, values), current) };
}

/** Returns the values of `dublincore/episode` of an event. `startDate` holds date and time. */
export function episodeValues(event: MetadataColumns & Pick<Selectable<Event>, 'id' | 'created'>): CatalogValues {
  return valuesOf(EVENT_CORE_FIELDS, event)
    .set('isPartOf', event.series_id ?? '')
    .set('startDate', event.start_date.toISOString())
    .set('duration', event.duration === null ? '' : formatDuration(event.duration))
    .set('created', event.created.toISOString())
    .set('identifier', event.id);
}

/** Returns the series that the values choose: null for no series, undefined if they do not mention it. */
export function chosenSeries(values: CatalogValues): string | null | undefined {
  return values.has('isPartOf') ? textIn(values, 'isPartOf') || null : undefined;
}

/** Returns the identifier that a client chose, if any. @throws {HttpError} 400 */
export function chosenIdentifier(values: CatalogValues): string | undefined {
  const id = textIn(values, 'identifier');
  if (id === '') return undefined;
  if (IDENTIFIER.test(id)) return id;
  throw unparsable('identifier', id, '1 to 255 letters, digits and . _ ~ : @ -, except . and ..');
}

function durationOf(value: string): number | null {
  if (value === '') return null;
  const duration = parseDuration(value);
  if (duration !== undefined) return duration;
  throw unparsable('duration', value, 'a duration such as 01:30:00');
}

/**
 * Returns the start of a new event from `startDate` (a day or an instant) and `startTime` (UTC). Either may be empty: a day
 * alone means midnight, a time alone means today, and neither means now.
 *
 * @throws {HttpError} 400
 */
export function startOfNew(date: string, time: string, now: Date): Date {
  if (date === '' && time === '') return new Date(Math.floor(now.getTime() / 1000) * 1000);
  const given = dayOf(date);
  return at(given?.day ?? midnight(now), timeOf(time) ?? given?.time ?? 0);
}

/**
 * Returns the start of an event after an update. `startDate` changes the day, and the time if it is an instant; `startTime`
 * changes the time of day. An `HH:mm` equal to the current time keeps the seconds, so that writing back what was read
 * changes nothing.
 *
 * @throws {HttpError} 400
 */
export function startAfter(date: string, time: string, current: Date): Date {
  const given = dayOf(date);
  const sinceMidnight = current.getTime() - midnight(current).getTime();
  const same = WITHOUT_SECONDS.exec(time)?.[1] === current.toISOString().slice(11, 16);
  const chosen = same ? (given?.time ?? sinceMidnight) : (timeOf(time) ?? given?.time ?? sinceMidnight);
  return at(given?.day ?? midnight(current), chosen);
}

function dayOf(date: string): { day: Date; time: number | undefined } | undefined {
  const instant = instantOf('startDate', date, 'a date such as 2026-01-31');
  if (!instant) return undefined;
  const day = midnight(instant);
  return { day, time: date.includes('T') ? instant.getTime() - day.getTime() : undefined };
}

function instantOf(id: string, text: string, allowed: string): Date | undefined {
  if (text === '') return undefined;
  const instant = parseDateTime(text);
  if (instant) return instant;
  throw unparsable(id, text, allowed);
}

function timeOf(time: string): number | undefined {
  if (time === '') return undefined;
  const sinceMidnight = parseTime(time);
  if (sinceMidnight === undefined) throw unparsable('startTime', time, 'a time in UTC such as 13:30:00Z');
  return sinceMidnight;
}

function midnight(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}

function at(day: Date, sinceMidnight: number): Date {
  return new Date(day.getTime() + sinceMidnight);
}

function unparsable(id: string, value: string, allowed: string) {
  return UNPARSABLE_METADATA('event', invalidValueReason(id, value, allowed));
}
