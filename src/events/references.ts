import { mayAccess } from '../access/acl/acl.queries.ts';
import type { Principal } from '../access/principal.ts';
import type { Queryable, Transaction } from '../database/kysely.ts';
import { NO_SUCH_SERIES } from './refusals.ts';

/**
 * Refuses a series that an event cannot join: one that does not exist, or that the principal may not read, which is
 * answered alike. It cannot change or go until the transaction ends.
 *
 * @throws {HttpError} 400
 */
export async function requireSeries(trx: Transaction, seriesId: string, principal: Principal): Promise<void> {
  const series = await trx
    .selectFrom('series')
    .select('id')
    .where('id', '=', seriesId)
    .where(mayAccess('series', principal, 'read'))
    .forShare()
    .executeTakeFirst();
  if (!series) throw NO_SUCH_SERIES(seriesId);
}

/** Presenters, with the names of people in place of their user names (compatibility 3.5). */
export async function namedPresenters(db: Queryable, presenters: readonly string[]): Promise<string[]> {
  if (presenters.length === 0) return [];
  const known = await db
    .selectFrom('accounts')
    .select(['username', 'name'])
    .where('username', 'in', presenters)
    .where('name', '<>', '')
    .execute();
  const names = new Map(known.map(({ username, name }) => [username, name]));
  return presenters.map((presenter) => names.get(presenter) ?? presenter);
}
