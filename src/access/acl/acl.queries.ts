import { type AliasableExpression, type Expression, type SqlBool, sql } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { HttpError } from '#platform/http/errors/errors.ts';
import { UNAUTHORIZED } from '../access-errors.ts';
import type { Principal } from '../principal.ts';
import type { AclEntry } from './acl.ts';

export type Action = 'read' | 'write';

/** The tables whose rows have an access control list and catalogs. */
export type Resource = 'events' | 'series';

/** The tables whose rows hold the granted roles. */
export type GuardedTable = Resource | 'playlists';

/** Returns a condition on a row of a guarded table; triggers or the writer keep the granted roles in it (sql/0007). */
export function mayAccess(resource: GuardedTable, principal: Principal, action: Action): AliasableExpression<SqlBool> {
  if (principal.isAdmin()) return sql<SqlBool>`true`;
  const granted = sql.ref(`${resource}.${action}_roles`);
  return sql<SqlBool>`${granted} && ${[...principal.roles]}::text[]`;
}

/** Requires an action that the ACL grants; throws `missing` if the principal may not read the resource. */
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

/**
 * Locks a row until the transaction ends. Principals that may not read it do not wait for the lock.
 *
 * @throws `missing` if the principal may not read the resource, `denied` if it may only read it
 */
export async function lockWritable(
  trx: Transaction,
  table: 'series' | 'playlists',
  principal: Principal,
  id: string,
  missing: (id: string) => HttpError,
  denied: () => HttpError = UNAUTHORIZED,
): Promise<void> {
  const found = await trx
    .selectFrom(table)
    .select(mayAccess(table, principal, 'write').as('writable'))
    .where('id', '=', id)
    .where(mayAccess(table, principal, 'read'))
    .forUpdate()
    .executeTakeFirst();
  if (!found) throw missing(id);
  if (!found.writable) throw denied();
}

/** Returns a condition for the rows of a list that the principal may access; undefined if it may access all. */
export function accessCondition(
  resource: GuardedTable,
  principal: Principal,
  action: Action,
): Expression<SqlBool> | undefined {
  return principal.isAdmin() ? undefined : mayAccess(resource, principal, action);
}

/** Returns the table with a part of events or series, and its column with their identifiers. */
export function partTable(resource: Resource, part: 'acl' | 'catalogs') {
  const one = resource === 'events' ? 'event' : 'series';
  return { table: sql.table(`${one}_${part}`), owner: sql.ref(`${one}_id`) };
}

/** Returns the own ACL entries of events or series by identifier, with one query; an empty list without an ACL. */
export async function aclsOf(
  db: Queryable,
  resource: Resource,
  ids: readonly string[],
): Promise<Map<string, AclEntry[]>> {
  const acls = new Map<string, AclEntry[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return acls;
  const { table, owner } = partTable(resource, 'acl');
  const { rows } = await sql<AclEntry & { owner: string }>`
    SELECT ${owner} AS owner, allow, action, role FROM ${table}
    WHERE ${owner} = ANY(${ids}) ORDER BY ${owner}, position`.execute(db);
  for (const { owner: id, ...entry } of rows) acls.get(id)?.push(entry);
  return acls;
}

/** The fields of an event that select its effective ACL. */
interface Protected {
  id: string;
  series_id: string | null;
  own_acl: boolean;
}

/** The effective ACL of an event; `own` is false for the ACL of its series. */
export interface EffectiveAcl {
  entries: AclEntry[];
  own: boolean;
}

/** Returns the effective ACLs of events by identifier, with two queries: the own ACL, or that of the series. */
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

/** Selects the effective ACL of an event: its own ACL, even an empty one, or that of its series. */
export function effectiveAcl(event: Protected, own: readonly AclEntry[], ofSeries: readonly AclEntry[]): EffectiveAcl {
  return hasOwnAcl(event, own) ? { entries: [...own], own: true } : { entries: [...ofSeries], own: false };
}

/** Earlier versions wrote entries without setting `own_acl`. */
function hasOwnAcl(event: Protected, entries: readonly AclEntry[]): boolean {
  return event.own_acl || entries.length > 0;
}

/** Returns the effective ACL of one event. */
export async function effectiveAclOf(db: Queryable, event: Protected): Promise<EffectiveAcl> {
  const acl = (await effectiveAclsOf(db, [event])).get(event.id);
  if (!acl) throw new Error(`The ACL of event ${event.id} was not read.`);
  return acl;
}

/** Replaces the ACL entries of events or series; an event's row, written afterwards, sets `own_acl`. */
export async function replaceAcl(
  trx: Transaction,
  resource: Resource,
  owners: string | readonly string[],
  entries: readonly AclEntry[],
): Promise<void> {
  const { table, owner } = partTable(resource, 'acl');
  const ids = [owners].flat();
  // The INSERT reads from `removed`, so the DELETE runs first.
  await sql`
    WITH removed AS (
      DELETE FROM ${table} WHERE ${owner} = ANY(${ids}) RETURNING position
    )
    INSERT INTO ${table} (${owner}, position, role, action, allow)
    SELECT id, position, role, action, allow
    FROM unnest(${ids}::text[]) AS id, ROWS FROM (unnest(${entries.map(({ role }) => role)}::text[]),
                    unnest(${entries.map(({ action }) => action)}::text[]),
                    unnest(${entries.map(({ allow }) => allow)}::boolean[]))
      WITH ORDINALITY AS entry (role, action, allow, position)
    WHERE (SELECT count(*) FROM removed) >= 0`.execute(trx);
}
