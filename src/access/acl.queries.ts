import { type AliasableExpression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Queryable } from '../database/kysely.ts';
import type { DB } from '../database/schema.ts';
import { notFound, unauthorized } from '../http/errors.ts';
import type { Principal } from './principal.ts';

/** What an ACL is asked for. */
export type Action = 'read' | 'write';

/** Up to this many readable events, starting from the ACL is cheaper than from the events. */
const FEW = 2000;

/**
 * A condition on the row of `events` (under that name) in a query: the event's own ACL grants the action to one of the
 * principal's roles, or it has none and its series' ACL does. Administrators may do everything.
 *
 * Probes the ACL of each row it is asked about: right for single events and for walking a list most of which is
 * readable. For lists use `accessFilter`.
 */
export function mayAccess(principal: Principal, action: Action): AliasableExpression<SqlBool> {
  if (principal.isAdmin()) return sql<SqlBool>`true`;
  const eb = expressionBuilder<DB, 'events'>();
  const yes = sql<SqlBool>`true`;
  const own = eb
    .selectFrom('event_acl')
    .select(yes.as('granted'))
    .whereRef('event_acl.event_id', '=', 'events.id');
  // Single values, not EXISTS: the planner would read the whole ACL to answer EXISTS for a list.
  return eb.fn.coalesce(
    own
      .where('allow', '=', true)
      .where('action', '=', action)
      .where('role', '=', anyOf(principal))
      .limit(1)
      .$asScalar(),
    eb
      .selectFrom('series_acl')
      .select(yes.as('granted'))
      .whereRef('series_acl.series_id', '=', 'events.series_id')
      .where('allow', '=', true)
      .where('action', '=', action)
      .where('role', '=', anyOf(principal))
      .where((inner) => inner.not(inner.exists(own)))
      .limit(1)
      .$asScalar(),
    sql<SqlBool>`false`,
  );
}

/**
 * The condition of `mayAccess` for a list: starts from the ACL when the principal may access few events, so that
 * neither few nor many readable events make the list scan.
 */
export async function accessFilter(
  db: Queryable,
  principal: Principal,
  action: Action,
): Promise<AliasableExpression<SqlBool>> {
  if (principal.isAdmin()) return mayAccess(principal, action);
  const accessible = accessibleEvents(db, principal, action);
  const { count } = await db
    .selectFrom(accessible.limit(FEW).as('accessible'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= FEW) return mayAccess(principal, action);
  return expressionBuilder<DB, 'events'>()('events.id', 'in', accessible);
}

/**
 * Refuses what the event's ACL does not grant: 404 when the principal may not even read it, 401 when it may read but
 * not write.
 *
 * @param missing the sentence of the 404
 */
export async function requireEventAccess(
  db: Queryable,
  principal: Principal,
  eventId: string,
  action: Action,
  missing = `Cannot find an event with id '${eventId}'.`,
): Promise<void> {
  const event = await db
    .selectFrom('events')
    .select([mayAccess(principal, 'read').as('readable'), mayAccess(principal, action).as('permitted')])
    .where('id', '=', eventId)
    .executeTakeFirst();
  if (!event?.readable) throw notFound(missing);
  if (!event.permitted) throw unauthorized();
}

function accessibleEvents(db: Queryable, principal: Principal, action: Action) {
  return db
    .selectFrom('event_acl')
    .select('event_acl.event_id as id')
    .where('allow', '=', true)
    .where('action', '=', action)
    .where('role', '=', anyOf(principal))
    .unionAll(
      db
        .selectFrom('series_acl')
        .innerJoin('events as member', 'member.series_id', 'series_acl.series_id')
        .select('member.id')
        .where('allow', '=', true)
        .where('action', '=', action)
        .where('role', '=', anyOf(principal))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('event_acl')
                .select('event_acl.event_id')
                .whereRef('event_acl.event_id', '=', 'member.id'),
            ),
          ),
        ),
    );
}

function anyOf(principal: Principal) {
  return sql<string>`any(${[...principal.roles]}::text[])`;
}
