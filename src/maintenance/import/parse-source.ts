import { z } from 'zod';
import { type ApiVersion, atLeast } from '#platform/http/answer/version.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { SourceError } from './catalogue-source.ts';
import { SourceEvent, SourceGroup, SourcePlaylist, SourceSeries, SourceTrack } from './source.schemas.ts';
import type { ListedItem } from './walk.ts';

/** An event of a list: readable, unreadable for a reason, or deleted since. */
export interface ListedEvent extends ListedItem {
  event?: SourceEvent | undefined;
  fault?: string | undefined;
}

const Identified = z.object({ identifier: z.string(), created: z.string().nullish(), start: z.string().nullish() });
const EPISODE = 'dublincore/episode';
/** The members with the people of an event and of a series, by the field of the catalog. */
const EVENT_PEOPLE: People = { creator: 'presenter', contributor: 'contributor' };
const SERIES_PEOPLE: People = { creator: 'organizers', contributor: 'contributors', publisher: 'publishers' };
type People = Readonly<Record<string, string>>;

/** Parses an event of a list, however little of it is readable. */
export function listedEvent(json: unknown, version: ApiVersion): ListedEvent {
  const { data: known } = Identified.safeParse(json);
  const id = known?.identifier ?? '';
  try {
    const event = parseEvent(json);
    return { id, event, time: sortTime(event, version) };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { id, fault: error.message, time: timeOf(known?.start || known?.created) };
  }
}

/** @throws {SourceError} */
export function parseEvent(json: unknown): SourceEvent {
  const event = parse(SourceEvent, json, 'The event');
  // Version 1.0 has the series in the metadata only.
  const is_part_of = event.is_part_of || episodeValue(event, 'isPartOf');
  return { ...event, metadata: withWholeNames(event.metadata, json, EVENT_PEOPLE), is_part_of };
}

/** Returns the time by which lists are sorted: before version 1.4, `start` is another one. */
function sortTime(event: SourceEvent, version: ApiVersion): number | undefined {
  if (atLeast(version, '1.4.0')) return timeOf(event.start);
  return timeOf(episodeValue(event, 'startDate')) ?? timeOf(event.created) ?? timeOf(event.start);
}

function episodeValue({ metadata }: SourceEvent, field: string): string {
  const fields = metadata.find(({ flavor }) => flavor === EPISODE)?.fields;
  const value = fields?.find(({ id }) => id === field)?.value;
  return typeof value === 'string' ? value : '';
}

function timeOf(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** Parses what identifies a series of a list. */
export function listedSeries(json: unknown): ListedItem & { json: unknown } {
  const { data: known } = Identified.safeParse(json);
  return { id: known?.identifier ?? '', time: timeOf(known?.created), json };
}

/** Parses a series with its details. @throws {SourceError} */
export function parseSeries(
  json: unknown,
  details: { acl: unknown; metadata: unknown; properties: unknown },
): SourceSeries {
  const series = parse(SourceSeries, { ...Object(json), ...details }, 'The series');
  return { ...series, metadata: withWholeNames(series.metadata, json, SERIES_PEOPLE) };
}

/**
 * Replaces names in catalogs by those of the item itself, if both are equal but for commas. The reference server joins the
 * names in catalogs with commas, and splits the text at all commas: "Hopper, Grace" becomes two people.
 */
function withWholeNames(metadata: SourceEvent['metadata'], json: unknown, people: People): SourceEvent['metadata'] {
  const item = Object(json) as Record<string, unknown>;
  const whole = <Field extends { id: string; value?: unknown }>(field: Field): Field => {
    const names = Object.hasOwn(people, field.id) ? item[people[field.id] ?? ''] : undefined;
    return namesIn(names) !== undefined && namesIn(names) === namesIn(field.value) ? { ...field, value: names } : field;
  };
  return metadata.map(({ flavor, fields }) => ({ flavor, fields: fields.map(whole) }));
}

/** Returns the names of a list, split at commas, as one text; undefined for anything else. */
function namesIn(value: unknown): string | undefined {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) return undefined;
  return JSON.stringify(value.flatMap((name) => name.split(',')).map((name) => name.trim()));
}

/** @throws {SourceError} */
export function parseTracks(json: unknown): SourceTrack[] {
  return parse(z.array(SourceTrack), json, 'A list of tracks');
}

/** Parses what identifies a playlist or a group of a list. */
export function listedItem(json: unknown): ListedItem & { json: unknown } {
  const { id, identifier } = Object(json) as Record<string, unknown>;
  return { id: excerpt(identifier ?? id), time: undefined, json };
}

/** @throws {SourceError} */
export function parsePlaylist(json: unknown): SourcePlaylist {
  return parse(SourcePlaylist, json, 'The playlist');
}

/** @throws {SourceError} */
export function parseGroup(json: unknown): SourceGroup {
  return parse(SourceGroup, json, 'The group');
}

function parse<T>(schema: z.ZodType<T>, json: unknown, what: string): T {
  const { data, error } = schema.safeParse(json);
  if (!error) return data as T;
  const faults = error.issues.slice(0, MAX_FAULTS).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new SourceError(`${what} cannot be read (${faults.join('; ')}).`);
}

const MAX_FAULTS = 3;
