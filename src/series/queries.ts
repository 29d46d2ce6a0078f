import { sql } from 'kysely';
import { type Action, mayAccess } from '../access/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { Queryable, Transaction } from '../database/kysely.ts';
import { notFound, unauthorized } from '../http/errors.ts';
import { type SeriesRow, SHOWN_COLUMNS } from './json.ts';

/** One series the principal may read, or undefined; its properties are read apart, since they may be many. */
export function findSeries(db: Queryable, id: string, principal: Principal) {
  return db
    .selectFrom('series')
    .select([...SHOWN_COLUMNS, 'acl_defined'])
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .executeTakeFirst();
}

/**
 * The series of these identifiers on which the principal may do the action, in the order of the identifiers; those that
 * are gone are left out.
 */
export async function findManySeries(
  db: Queryable,
  ids: readonly string[],
  principal: Principal,
  action: Action,
): Promise<SeriesRow[]> {
  if (ids.length === 0) return [];
  const found = await db
    .selectFrom('series')
    .select(SHOWN_COLUMNS)
    .where('id', '=', sql<string>`ANY(${ids})`)
    .where(mayAccess('series', principal, action))
    .execute();
  const byId = new Map(found.map((series) => [series.id, series]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The properties of a series the principal may read, or undefined. */
export async function findProperties(
  db: Queryable,
  id: string,
  principal: Principal,
): Promise<Record<string, string> | undefined> {
  const found = await db
    .selectFrom('series')
    .select('properties')
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .executeTakeFirst();
  return found?.properties as Record<string, string> | undefined;
}

/**
 * Locks a series for the rest of the transaction, which is what every change of one begins with.
 *
 * @param missing the sentence of the 404
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export async function lockSeries(
  trx: Transaction,
  principal: Principal,
  id: string,
  missing = `Cannot find a series with id '${id}'.`,
): Promise<void> {
  const found = await trx
    .selectFrom('series')
    .select(mayAccess('series', principal, 'write').as('writable'))
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .forUpdate()
    .executeTakeFirst();
  if (!found) throw notFound(missing);
  if (!found.writable) throw unauthorized();
}
