import { type Expression, type Selectable, sql } from 'kysely';
import { effectiveAclsOf, mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { scheduleJson } from '#capture/schedules/scheduling.schemas.ts';
import { schedulesOf } from '#capture/schedules/timetable.queries.ts';
import type { Schedule } from '#capture/states/recording-state.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import { type CatalogOptions, catalogJson } from '#metadata/catalog-json.ts';
import { storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { columnNames, fieldsShown } from '#metadata/core-fields.ts';
import { formatInstant } from '#metadata/date-time.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import type { CatalogJson } from '#metadata/metadata.schemas.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { PREPARED } from '#platform/database/prepared.ts';
import type { Event } from '#platform/database/schema.ts';
import { type ApiVersion, atLeast, fieldsIn } from '#platform/http/answer/version.ts';
import type { ProcessingState } from '#processing/workflow.schemas.ts';
import { hasPreviews } from '#publications/editor-files.ts';
import { publicationsOfEvents } from '#publications/publication.queries.ts';
import { type PublicationAddresses, publicationsJson } from '#publications/publication-json.ts';
import type { EventJson, EventQuery } from './event.schemas.ts';
import { episodeValues } from './event-columns.ts';
import { EVENT_CHANGES, EVENT_FIELDS } from './event-versions.ts';

/** The columns of an event that the API shows. */
export type EventRow = Awaited<ReturnType<typeof findEvent>> & object;

/** Returns the event if the principal may read it. */
export function findEvent(database: Queryable, id: string, principal: Principal) {
  return eventRows(database)
    .modifyFront(PREPARED)
    .where('events.id', '=', id)
    .where(mayAccess('events', principal, 'read'))
    .executeTakeFirst();
}

/** Selects an event for a list, which has checked access. */
export function shownEvent(database: Queryable, id: Expression<string>) {
  return eventRows(database).where('events.id', '=', id).limit(1);
}

/** Selects events without a check of access, in no order. */
export function findEvents(database: Queryable, ids: readonly string[]) {
  return eventRows(database)
    .where('events.id', '=', sql<string>`ANY(${[...ids]})`)
    .execute();
}

const SHOWN_COLUMNS = [
  'events.id',
  ...columnNames(EVENT_CORE_FIELDS).map((name) => `events.${name}` as const),
  'events.series_id',
  'events.series_title',
  'events.own_acl',
  'events.start_date',
  'events.created',
  'events.duration',
  'events.creator',
  'events.archive_version',
  'events.processing_state',
  'events.status',
  'events.agent_id',
  'events.technical_start',
  'events.technical_end',
] as const;

function eventRows(database: Queryable) {
  return database
    .selectFrom('events')
    .select(SHOWN_COLUMNS)
    .select([
      sql<string[]>`ARRAY(SELECT channel FROM publications WHERE event_id = events.id ORDER BY channel)`.as('channels'),
      sql<boolean>`${hasPreviews(sql.ref('events.id'))}`.as('has_previews'),
    ]);
}

const STATUS_PREFIX = 'EVENTS.EVENTS.STATUS.';

/** Returns the stored part of a status (compatibility 3.2), or undefined without the prefix. */
export function storedStatus(shown: string): string | undefined {
  return shown.startsWith(STATUS_PREFIX) ? shown.slice(STATUS_PREFIX.length) : undefined;
}

/** The parts of an event that only some requests ask for. */
interface EventExtras extends Pick<EventJson, 'acl' | 'metadata' | 'scheduling'> {
  publications?: ReturnType<typeof publicationsJson>;
}

/** Returns the JSON of an event (compatibility 3.1). */
export function eventJson(event: EventRow, version: ApiVersion, extras: EventExtras = {}) {
  return fieldsIn(version, EVENT_FIELDS, { ...fields(event), ...times(event, version), ...extras });
}

const fieldsOfEvent = fieldsShown(EVENT_CORE_FIELDS);

function fields(event: EventRow) {
  return {
    ...fieldsOfEvent(event),
    archive_version: event.archive_version,
    created: formatInstant(event.created),
    creator: event.creator,
    has_previews: event.has_previews,
    identifier: event.id,
    is_part_of: event.series_id ?? '',
    series: event.series_title,
    status: STATUS_PREFIX + event.status,
    publication_status: event.channels,
    processing_state: event.processing_state as ProcessingState,
  } satisfies Omit<EventJson, 'start'>;
}

/** Returns the bibliographic times or, before 1.4.0, those of the scheduled recording. */
function times(event: EventRow, version: ApiVersion): Pick<EventJson, 'start' | 'duration'> {
  if (atLeast(version, EVENT_CHANGES.bibliographicTimes)) {
    return { start: formatInstant(event.start_date), duration: event.duration };
  }
  const { agent_id, technical_start: start, technical_end: end } = event;
  return { start: formatInstant(start), ...(agent_id !== '' && { duration: end.getTime() - start.getTime() }) };
}

type Row = Parameters<typeof episodeValues>[0] & Pick<Selectable<Event>, 'processing_state'>;

/** True if the JSON marks the metadata as locked. */
export function isLocked({ processing_state }: Pick<Row, 'processing_state'>): boolean {
  return processing_state === 'RUNNING';
}

/** Returns the values of all catalogs, by event and flavor, with at most one query. */
export async function valuesOfEvents(
  db: Queryable,
  events: readonly Row[],
  { common, extended }: CatalogSet,
): Promise<Map<string, Map<string, CatalogValues>>> {
  const ids = events.map(({ id }) => id);
  const stored = extended.length === 0 ? new Map() : await storedCatalogs(db, 'events', ids);
  return new Map(
    events.map((event) => [
      event.id,
      new Map([...(stored.get(event.id) ?? []), [common.flavor, episodeValues(event)]]),
    ]),
  );
}

/** Returns the JSON of all catalogs, by event, with at most one query. */
export async function metadataOfEvents(
  db: Queryable,
  events: readonly Row[],
  catalogs: CatalogSet,
  form: CatalogOptions['form'],
): Promise<Map<string, CatalogJson[]>> {
  const values = await valuesOfEvents(db, events, catalogs);
  const jsonOf = (event: Row) =>
    catalogs.all.map((catalog) => {
      const filled = values.get(event.id)?.get(catalog.flavor) ?? new Map();
      return catalogJson(catalog, filled, { locked: isLocked(event), form });
    });
  return new Map(events.map((event) => [event.id, jsonOf(event)]));
}

/**
 * Loads the parts of events that a request asks for (`withacl`, `withmetadata`, `withpublications`, `withscheduling`), each
 * with at most one query.
 */
export async function loadExtras(
  database: Queryable,
  events: readonly EventRow[],
  query: EventQuery,
  { version, catalogs, ...addresses }: PublicationAddresses & { version: ApiVersion; catalogs: CatalogSet },
): Promise<(eventId: string) => EventExtras> {
  const eventIds = events.map(({ id }) => id);
  const withSchedules = query.withscheduling && atLeast(version, EVENT_CHANGES.withscheduling);
  const [acls, metadata, publications, schedules] = await Promise.all([
    query.withacl ? effectiveAclsOf(database, events) : undefined,
    query.withmetadata ? metadataOfEvents(database, events, catalogs, 'withmetadata') : undefined,
    query.withpublications ? publicationsOfEvents(database, eventIds) : undefined,
    withSchedules ? schedulesOf(database, eventIds) : undefined,
  ]);
  const schedulingOf = (schedule: Schedule | undefined) => (schedule ? scheduleJson(schedule) : {});
  return (eventId) => ({
    ...(acls && { acl: acls.get(eventId)?.entries ?? [] }),
    ...(metadata && { metadata: metadata.get(eventId) ?? [] }),
    ...(schedules && { scheduling: schedulingOf(schedules.get(eventId)) }),
    ...(publications && {
      publications: publicationsJson(publications.get(eventId) ?? [], { ...addresses, version, ...query }),
    }),
  });
}
