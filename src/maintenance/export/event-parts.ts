import { type Selectable, sql } from 'kysely';
import { storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import type { PublicationElement, Track } from '#platform/database/schema.ts';
import { fileName } from '../import/folder-format.ts';
import type { EventExtras } from '../import/inlet-extras.schemas.ts';

/** The rows of events that belong to their export, by event. */
export type EventParts = Awaited<ReturnType<typeof loadEventParts>>;

/** A row that names an object. */
export interface FileRow {
  id: string;
  flavor: string;
  filename: string;
  object_key: string;
  size: number;
  sha256: string | null;
}

/** Loads the rows of many events, with one query for each table. */
export async function loadEventParts(database: Queryable, ids: readonly string[]) {
  const ofEvents = sql<boolean>`event_id = ANY(${[...ids]})`;
  const tracks = await database.selectFrom('tracks').selectAll().where(ofEvents).orderBy('position').execute();
  const attachments = await database.selectFrom('attachments').selectAll().where(ofEvents).orderBy('id').execute();
  const elements = await database
    .selectFrom('publication_elements')
    .selectAll()
    .where(ofEvents)
    // Pieces are joined by the workflow that made them.
    .where('kind', '<>', 'piece')
    .orderBy('position')
    .orderBy('id')
    .execute();
  const publications = await database
    .selectFrom('publications')
    .select(['event_id', 'id', 'published_at'])
    .where(ofEvents)
    .orderBy('channel')
    .execute();
  const documents = await database
    .selectFrom('event_documents')
    .selectAll()
    .where(ofEvents)
    .orderBy('flavor')
    .execute();
  const schedules = await database.selectFrom('schedules').selectAll().where(ofEvents).execute();
  const further = await database.selectFrom('further_recordings').selectAll().where(ofEvents).execute();
  const catalogs = await storedCatalogs(database, 'events', ids);
  const grouped = <Row extends { event_id: string }>(rows: Row[]) => Map.groupBy(rows, ({ event_id }) => event_id);
  const parts = {
    ...{ tracks: grouped(tracks), attachments: grouped(attachments), elements: grouped(elements) },
    ...{ publications: grouped(publications), documents: grouped(documents) },
    ...{ schedules: grouped(schedules), further: grouped(further) },
  };
  return (id: string) => ({
    tracks: parts.tracks.get(id) ?? [],
    attachments: parts.attachments.get(id) ?? [],
    elements: parts.elements.get(id) ?? [],
    publications: parts.publications.get(id) ?? [],
    documents: parts.documents.get(id) ?? [],
    schedule: parts.schedules.get(id)?.[0],
    further: parts.further.get(id)?.[0],
    catalogs: storedFields(catalogs.get(id)),
  });
}

/** Returns stored catalogs as JSON. */
export function storedFields(
  catalogs: Awaited<ReturnType<typeof storedCatalogs>> extends Map<string, infer T> ? T | undefined : never,
) {
  return Object.fromEntries([...(catalogs ?? [])].map(([flavor, values]) => [flavor, Object.fromEntries(values)]));
}

interface EventTimes {
  created: Date;
  start_date: Date;
}

/** Returns the member `inlet` of an event. @param own true if it has its own access control list */
export function eventExtras(event: EventTimes, own: boolean, parts: ReturnType<EventParts>): EventExtras {
  const { schedule, further, publications } = parts;
  return {
    created: event.created.toISOString(),
    start: event.start_date.toISOString(),
    own_acl: own,
    catalogs: parts.catalogs,
    schedule: schedule
      ? {
          workflow: schedule.workflow,
          configuration: schedule.configuration as Record<string, string>,
          gap_ms: schedule.gap_ms,
          allow_conflict: schedule.allow_conflict,
          recording_state: schedule.recording_state,
          recording_state_since: schedule.recording_state_since?.toISOString() ?? null,
        }
      : null,
    further_recording: further ? { of_event: further.of_event, part: further.part } : null,
    documents: parts.documents.map(({ flavor, filename, content }) => ({ flavor, filename, content })),
    tracks: parts.tracks.map(trackExtras),
    attachments: parts.attachments.map(({ id, filename, tags, track_id, ...row }) => ({
      ...{ id, ...hiddenFile({ id, filename, ...row }), filename, tags, track_id },
    })),
    publications: publications.map(({ id, published_at }) => ({ id, published_at: published_at.toISOString() })),
    elements: parts.elements.filter(({ publication_id }) => publication_id !== null).map(elementExtras),
    prepared: parts.elements
      .filter(({ publication_id }) => publication_id === null)
      .map((element) => ({ ...elementExtras(element), ...hiddenFile(element), tags: element.tags })),
  };
}

function trackExtras(track: Selectable<Track>): EventExtras['tracks'][number] {
  const { id, position, filename, made_by } = track;
  return {
    ...{ id, position, filename, made_by },
    hidden_streams: track.hidden_streams as ('audio' | 'video')[],
    kept_parts: track.kept_parts as EventExtras['tracks'][number]['kept_parts'],
    streams: track.streams as EventExtras['tracks'][number]['streams'],
  };
}

function elementExtras(element: Selectable<PublicationElement>): EventExtras['elements'][number] {
  const { id, position, track, filename, duration, has_audio, has_video, width, height } = element;
  const { frame_rate, frame_count, bit_rate } = element;
  return {
    ...{ id, kind: element.kind as EventExtras['elements'][number]['kind'], position, track, filename },
    properties: element.properties as Record<string, unknown>,
    ...{ duration, has_audio, has_video, width, height, frame_rate, frame_count, bit_rate },
  };
}

function hiddenFile(row: FileRow & { mediatype: string; sha256: string }) {
  const { flavor, mediatype, size, sha256 } = row;
  return { url: fileName(row), flavor, mediatype, size, sha256 };
}
