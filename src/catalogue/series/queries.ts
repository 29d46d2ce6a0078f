import type { Expression } from 'kysely';
import { UNAUTHORIZED } from '#access/access-errors.ts';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Refusal } from '#platform/http/errors/refusal.ts';
import { SHOWN_COLUMNS } from './json.ts';
import { SERIES_MISSING } from './refusals.ts';

/** One series the principal may read, or undefined; its properties are read apart, since they may be many. */
export function findSeries(db: Queryable, id: string, principal: Principal) {
  return db
    .selectFrom('series')
    .select(SHOWN_COLUMNS)
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .executeTakeFirst();
}

/** Selects what lists show of a series, for one that may show it. */
export function shownSeries(database: Queryable, id: Expression<string>) {
  return database.selectFrom('series').select(SHOWN_COLUMNS).where('id', '=', id).limit(1);
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
 * @param missing the refusal of a series that is not there
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export async function lockSeries(
  trx: Transaction,
  principal: Principal,
  id: string,
  missing: Refusal | Refusal<[string]> = SERIES_MISSING,
): Promise<void> {
  const found = await trx
    .selectFrom('series')
    .select(mayAccess('series', principal, 'write').as('writable'))
    .where('id', '=', id)
    .where(mayAccess('series', principal, 'read'))
    .forUpdate()
    .executeTakeFirst();
  if (!found) throw missing(id);
  if (!found.writable) throw UNAUTHORIZED();
}
