import { type AliasableExpression, type SqlBool, sql } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { HttpError } from '#platform/http/errors/errors.ts';
import { UNAUTHORIZED } from '../access-errors.ts';
import type { Principal } from '../principal.ts';
import type { AclEntry } from './acl.ts';

/** What an ACL is asked for. */
export type Action = 'read' | 'write';

/** What has an ACL; also the name of its table. */
export type Resource = 'events' | 'series';

/**
 * A condition on a row of `events` or `series` (under that name): its effective ACL grants the action to one of the
 * principal's roles. Administrators may do everything. The same for single rows and for lists: triggers keep the roles
 * beside the row (sql/0007).
 */
export function mayAccess(resource: Resource, principal: Principal, action: Action): AliasableExpression<SqlBool> {
  if (principal.isAdmin()) return sql<SqlBool>`true`;
  const granted = sql.ref(`${resource}.${action}_roles`);
  return sql<SqlBool>`${granted} && ${[...principal.roles]}::text[]`;
}

/**
 * Refuses what the resource's ACL does not grant: 404 when the principal may not even read it, 401 when it may read but
 * not write.
 *
 * @param missing the refusal of a resource that may not even be read
 * @param denied the refusal of one that may be read alone
 */
export async function requireAccess(
  db: Queryable,
  resource: Resource,
  principal: Principal,
  id: string,
  action: Action,
  missing: (id: string) => HttpError,
  denied: () => HttpError = UNAUTHORIZED,
): Promise<void> {
  const found = await db
    .selectFrom(resource)
    .select([
      mayAccess(resource, principal, 'read').as('readable'),
      mayAccess(resource, principal, action).as('permitted'),
    ])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!found?.readable) throw missing(id);
  if (!found.permitted) throw denied();
}

const STORED = {
  events: { table: 'event_acl', owner: 'event_id' },
  series: { table: 'series_acl', owner: 'series_id' },
} as const;

/** The entries of the own ACLs of events or series, by identifier, in one query; none for those that have no ACL. */
export async function aclsOf(
  db: Queryable,
  resource: Resource,
  ids: readonly string[],
): Promise<Map<string, AclEntry[]>> {
  const acls = new Map<string, AclEntry[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return acls;
  const { table, owner } = STORED[resource];
  const { rows } = await sql<AclEntry & { owner: string }>`
    SELECT ${sql.ref(owner)} AS owner, allow, action, role FROM ${sql.table(table)}
    WHERE ${sql.ref(owner)} = ANY(${ids}) ORDER BY ${sql.ref(owner)}, position`.execute(db);
  for (const { owner: id, ...entry } of rows) acls.get(id)?.push(entry);
  return acls;
}

/** What of an event tells which ACL holds for it. */
interface Protected {
  id: string;
  series_id: string | null;
  own_acl: boolean;
}

/** The ACL that holds for an event. */
export interface EffectiveAcl {
  entries: AclEntry[];
  /** Whether it is the event's own one, not that of its series. */
  own: boolean;
}

/** The ACLs that hold for events, by identifier, in two queries: their own ones, else those of their series. */
export async function effectiveAclsOf(db: Queryable, events: readonly Protected[]): Promise<Map<string, EffectiveAcl>> {
  const ids = events.map(({ id }) => id);
  const acls = await aclsOf(db, 'events', ids);
  const own = (event: Protected) => acls.get(event.id) ?? [];
  const followed = events.filter((event) => !hasOwnAcl(event, own(event))).flatMap(({ series_id }) => series_id ?? []);
  const ofSeries = await aclsOf(db, 'series', [...new Set(followed)]);
  return new Map(
    events.map((event) => [event.id, effectiveAcl(event, own(event), ofSeries.get(event.series_id ?? '') ?? [])]),
  );
}

/** The ACL that holds for an event: its own one, which may be empty, else that of its series. */
export function effectiveAcl(event: Protected, own: readonly AclEntry[], ofSeries: readonly AclEntry[]): EffectiveAcl {
  return hasOwnAcl(event, own) ? { entries: [...own], own: true } : { entries: [...ofSeries], own: false };
}

/** Entries alone say so of an ACL that an earlier version has written. */
function hasOwnAcl(event: Protected, entries: readonly AclEntry[]): boolean {
  return event.own_acl || entries.length > 0;
}

/** The ACL that holds for an event. */
export async function effectiveAclOf(db: Queryable, event: Protected): Promise<EffectiveAcl> {
  const acl = (await effectiveAclsOf(db, [event])).get(event.id);
  if (!acl) throw new Error(`No ACL has been looked up for the event ${event.id}.`);
  return acl;
}

/**
 * Replaces the entries of the ACL of an event or a series, or of several; one for each pair of role and action. Those of an
 * event count from its next version on: its row, written after them, says that it has an ACL of its own (`own_acl`).
 *
 * @param owners identifiers
 */
export async function replaceAcl(
  trx: Transaction,
  resource: Resource,
  owners: string | readonly string[],
  entries: readonly AclEntry[],
): Promise<void> {
  const { table, owner } = STORED[resource];
  const ids = [owners].flat();
  // The insertion reads from the deletion, so that it comes after it.
  await sql`
    WITH removed AS (
      DELETE FROM ${sql.table(table)} WHERE ${sql.ref(owner)} = ANY(${ids}) RETURNING position
    )
    INSERT INTO ${sql.table(table)} (${sql.ref(owner)}, position, role, action, allow)
    SELECT id, position, role, action, allow
    FROM unnest(${ids}::text[]) AS id, ROWS FROM (unnest(${entries.map(({ role }) => role)}::text[]),
                    unnest(${entries.map(({ action }) => action)}::text[]),
                    unnest(${entries.map(({ allow }) => allow)}::boolean[]))
      WITH ORDINALITY AS entry (role, action, allow, position)
    WHERE (SELECT count(*) FROM removed) >= 0`.execute(trx);
}
