import type { Queryable } from '#platform/database/kysely.ts';
import { userRole } from '../roles/roles.ts';

/**
 * Gives a user of the identity provider the role of its name, unless another one has it: of names that differ in case
 * alone, the first to come has it for good.
 *
 * @returns the name of the user who has the role
 */
export async function holdRole(db: Queryable, username: string): Promise<string> {
  const role = userRole(username);
  const known = await holderOf(db, role);
  if (known !== undefined) return known;
  await db
    .insertInto('token_users')
    .values({ role, username })
    .onConflict((taken) => taken.doNothing())
    .execute();
  return (await holderOf(db, role)) ?? username;
}

/** The user of the identity provider who has this role; undefined for a role that nobody came with. */
export async function holderOf(db: Queryable, role: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('token_users')
    .select('username')
    .where('role', '=', role)
    .executeTakeFirst();
  return found?.username;
}

/** Lets another user have the role. @returns false when this one never had it */
export async function releaseRole(db: Queryable, username: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('token_users')
    .where('username', '=', username)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
