import type { Queryable } from '../database/kysely.ts';

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
