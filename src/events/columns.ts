import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Event } from '../database/schema.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import {
  type Columns,
  columnsOf,
  differingColumns,
  givenColumns,
  textIn,
  valuesOf,
} from '../metadata/columns.ts';
import { EVENT_CORE_FIELDS } from '../metadata/episode.ts';
import { UNPARSABLE_METADATA, unfit } from '../metadata/refusals.ts';
import { formatDuration, parseDuration } from '../metadata/time.ts';
import { creationOf, formatHours, startAfter, startOfNew } from './dates.ts';

type EventField = (typeof EVENT_CORE_FIELDS)[number];

/** Dots alone would lead out of the folder in an address. */
const IDENTIFIER = /^(?!\.\.?$)[A-Za-z0-9._~:@-]{1,255}$/;

/** The columns of an event that its default catalog fills. */
export type MetadataColumns = Columns<EventField> &
  Pick<Selectable<Event>, 'series_id' | 'start_date' | 'duration'>;

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
  const given = givenColumns(EVENT_CORE_FIELDS, values);
  const changes: Updateable<Event> = differingColumns(given, current);
  const series = chosenSeries(values);
  if (series !== undefined && series !== current.series_id) changes.series_id = series;
  const start = startAfter(textIn(values, 'startDate'), textIn(values, 'startTime'), current.start_date);
  if (start.getTime() !== current.start_date.getTime()) {
    changes.start_date = start;
    changes.created = start;
  }
  if (values.has('duration') && textIn(values, 'duration') !== formatHours(current.duration)) {
    const duration = durationOf(textIn(values, 'duration'));
    if (duration !== current.duration) changes.duration = duration;
  }
  return changes;
}

/** The values of `dublincore/episode` of an event, by field; the start as one instant. */
export function episodeValues(
  event: MetadataColumns & Pick<Selectable<Event>, 'id' | 'created'>,
): CatalogValues {
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
