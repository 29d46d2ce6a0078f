import { type Expression, type SelectQueryBuilder, sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { columnNames } from '#metadata/columns.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import type { DB } from '#platform/database/schema.ts';

/** An event as the API shows it, before versions come into play. */
export type EventRow = Awaited<ReturnType<typeof findEvent>> & object;

/** One event the principal may read, or undefined. */
export function findEvent(database: Queryable, id: string, principal: Principal) {
  return eventRows(database)
    .where('events.id', '=', id)
    .where(mayAccess('events', principal, 'read'))
    .executeTakeFirst();
}

/** Selects what the API shows of an event, for a list that may show it. */
export function shownEvent(database: Queryable, id: Expression<string>) {
  return eventRows(database).where('events.id', '=', id).limit(1);
}

/** The columns the API shows; not what lists are searched by. */
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
  return withSummary(database.selectFrom('events').select(SHOWN_COLUMNS));
}

/** What the API tells of an event's series and publications, without loading them. */
function withSummary<O>(query: SelectQueryBuilder<DB, 'events', O>) {
  return query.select([
    sql<string[]>`ARRAY(SELECT channel FROM publications WHERE event_id = events.id ORDER BY channel)`.as('channels'),
    sql<boolean>`EXISTS (SELECT 1 FROM publication_elements
      WHERE event_id = events.id AND publication_id IS NOT NULL AND flavor LIKE '%/preview')`.as('has_previews'),
  ]);
}
