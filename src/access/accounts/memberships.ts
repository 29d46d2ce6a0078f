import type { Queryable } from '#platform/database/kysely.ts';
import { groupRole, withIncludedRoles } from '../roles/roles.ts';

/** Returns all roles that a user has from groups. */
export async function rolesFromGroups(db: Queryable, username: string): Promise<string[]> {
  const groups = await db
    .selectFrom('user_group_members')
    .innerJoin('user_groups', 'user_groups.id', 'user_group_members.group_id')
    .select(['id', 'roles'])
    .where('username', '=', username)
    .execute();
  return groups.flatMap(({ id, roles }) => withIncludedRoles([groupRole(id), ...roles]));
}

/** Removes a user from all groups: a later user with this name is another one. */
export async function leaveGroups(db: Queryable, username: string): Promise<void> {
  await db.deleteFrom('user_group_members').where('username', '=', username).execute();
}
