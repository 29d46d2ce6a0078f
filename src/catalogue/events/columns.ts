import type { Insertable, Selectable, Updateable } from 'kysely';
import type { CatalogValues } from '#metadata/catalog.ts';
import { type Columns, columnsOf, differingColumns, givenColumns, textIn, valuesOf } from '#metadata/columns.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode.ts';
import { UNPARSABLE_METADATA, unfit } from '#metadata/refusals.ts';
import { formatDuration, parseDateTime, parseDuration, parseTime } from '#metadata/time.ts';
import type { Event } from '#platform/database/schema.ts';

type EventField = (typeof EVENT_CORE_FIELDS)[number];

const DAY_MS = 24 * 60 * 60 * 1000;
const WITHOUT_SECONDS = /^(\d{2}:\d{2})Z?$/;
/** Dots alone would lead out of the folder in an address. */
const IDENTIFIER = /^(?!\.\.?$)[A-Za-z0-9._~:@-]{1,255}$/;

/** The columns of an event that its default catalog fills. */
export type MetadataColumns = Columns<EventField> & Pick<Selectable<Event>, 'series_id' | 'start_date' | 'duration'>;

/**
 * The columns for a new event from the values of `dublincore/episode`. Without a start, recording began now; with a
 * time only, today. It counts as created when it started, unless the client says otherwise.
 *
 * @throws {HttpError} 400 for a date, time or duration that is none
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
    created: creationOf(textIn(values, 'created'), start),
  };
}

/**
 * The columns that values of `dublincore/episode` change in an event; those that hold the value already are not among
 * them. Fields that are not given change nothing, nor do read-only ones, an empty start, or what `episodeValues` shows:
 * writing back what was read leaves seconds and milliseconds alone that it does not show. With another start it counts as
 * created then.
 *
 * @throws {HttpError} 400 for a date, time or duration that is none
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

/** The values of `dublincore/episode` of an event, by field; the start as one instant. */
export function episodeValues(event: MetadataColumns & Pick<Selectable<Event>, 'id' | 'created'>): CatalogValues {
  return valuesOf(EVENT_CORE_FIELDS, event)
    .set('isPartOf', event.series_id ?? '')
    .set('startDate', event.start_date.toISOString())
    .set('duration', event.duration === null ? '' : formatDuration(event.duration))
    .set('created', event.created.toISOString())
    .set('identifier', event.id);
}

/** The series that the values put an event into; null takes it out of its series, undefined says nothing of it. */
export function chosenSeries(values: CatalogValues): string | null | undefined {
  return values.has('isPartOf') ? textIn(values, 'isPartOf') || null : undefined;
}

/** The identifier a client chose, if it did. @throws {HttpError} 400 */
export function chosenIdentifier(values: CatalogValues): string | undefined {
  const id = textIn(values, 'identifier');
  if (id === '') return undefined;
  if (IDENTIFIER.test(id)) return id;
  const allowed = '1 to 255 letters, digits and . _ ~ : @ -, not dots alone';
  throw UNPARSABLE_METADATA('event', unfit('identifier', id, allowed));
}

function durationOf(value: string): number | null {
  if (value === '') return null;
  const duration = parseDuration(value);
  if (duration !== undefined) return duration;
  throw UNPARSABLE_METADATA('event', unfit('duration', value, 'a duration such as 01:30:00'));
}

/**
 * When a new event starts, by the fields `startDate` (a day, or a whole instant) and `startTime` (UTC), either of them
 * possibly empty: a day without a time starts at midnight, a time without a day is meant for today, and neither means now.
 *
 * @throws {HttpError} 400
 */
export function startOfNew(date: string, time: string, now: Date): Date {
  if (date === '' && time === '') return new Date(Math.floor(now.getTime() / 1000) * 1000);
  const given = dayOf(date);
  return at(given?.day ?? midnight(now), timeOf(time) ?? given?.time ?? 0);
}

/**
 * When an event starts after an update: `startDate` changes only the day unless it is a whole instant, `startTime`
 * only the time of day; one that is empty changes nothing. A time of hours and minutes alone keeps the seconds when it
 * is the event's time already, so that what was read can be written back.
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

/** When a new event was created: as its field `created` says, or when it starts. @throws {HttpError} 400 */
export function creationOf(created: string, start: Date): Date {
  return instantOf('created', created, 'a date such as 2026-01-31T13:30:00Z') ?? start;
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
  return UNPARSABLE_METADATA('event', unfit(id, value, allowed));
}
