import { type SelectQueryBuilder, sql } from 'kysely';
import { type Action, mayAccess } from '../access/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { Queryable } from '../database/kysely.ts';
import type { DB } from '../database/schema.ts';

/** A page of a list: how many events to skip, and how many to return at most (all when undefined). */
export interface Page {
  offset: number;
  limit: number | undefined;
}

/** An event as the API shows it, before versions come into play. */
export type EventRow = Awaited<ReturnType<typeof findEvent>> & object;

/** One event the principal may read, or undefined. */
export function findEvent(database: Queryable, id: string, principal: Principal) {
  return eventRows(database)
    .where('events.id', '=', id)
    .where(mayAccess('events', principal, 'read'))
    .executeTakeFirst();
}

/** A page of the events on which the principal may do the action: newest start first, in a stable order. */
export async function listEvents(database: Queryable, principal: Principal, action: Action, page: Page) {
  let query = eventRows(database)
    .where(mayAccess('events', principal, action))
    .orderBy('events.start_date', 'desc')
    .orderBy('events.id')
    .offset(page.offset);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return query.execute();
}

function eventRows(database: Queryable) {
  return withSummary(database.selectFrom('events').selectAll('events'));
}

/** What the API tells of an event's series and publications, without loading them. */
function withSummary<O>(query: SelectQueryBuilder<DB, 'events', O>) {
  return query.select([
    sql<string[]>`ARRAY(SELECT channel FROM publications WHERE event_id = events.id ORDER BY channel)`.as(
      'channels',
    ),
    sql<boolean>`EXISTS (SELECT 1 FROM publication_elements
      WHERE event_id = events.id AND publication_id IS NOT NULL AND flavor LIKE '%/preview')`.as(
      'has_previews',
    ),
  ]);
}
