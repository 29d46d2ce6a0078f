import { type Expression, sql } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { GroupEdit } from './group.schemas.ts';

export interface GroupRow {
  id: string;
  name: string;
  description: string;
  roles: string[];
  members: string[];
}

export function shownGroup(database: Queryable, id: Expression<string>) {
  return database
    .selectFrom('user_groups')
    .select(['id', 'name', 'description', 'roles'])
    .select(
      sql<
        string[]
      >`ARRAY(SELECT username FROM user_group_members WHERE group_id = user_groups.id ORDER BY username)`.as('members'),
    )
    .where('id', '=', id)
    .limit(1);
}

/** Locks a group, so that what it grants stays the same for the transaction; undefined if it does not exist. */
export async function lockGroup(trx: Transaction, id: string): Promise<GroupRow | undefined> {
  const locked = await trx.selectFrom('user_groups').select('id').where('id', '=', id).forUpdate().executeTakeFirst();
  return locked && (await shownGroup(trx, sql.val(id)).executeTakeFirst());
}

/** Adds a group without members. @returns false if its identifier is taken */
export async function insertGroup(trx: Transaction, id: string, { name = '', ...facts }: GroupEdit): Promise<boolean> {
  const { description = '', roles = [] } = facts;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('user_groups')
    .values({ id, name, description, roles })
    .onConflict((taken) => taken.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Changes the given parts of a group. */
export async function updateGroup(trx: Transaction, id: string, { members, ...facts }: GroupEdit): Promise<void> {
  if (Object.keys(facts).length > 0) await trx.updateTable('user_groups').set(facts).where('id', '=', id).execute();
  if (members) await replaceMembers(trx, id, members);
}

/** Replaces the members of a locked group. */
export async function replaceMembers(trx: Transaction, id: string, members: readonly string[]): Promise<void> {
  await sql`DELETE FROM user_group_members WHERE group_id = ${id} AND username <> ALL(${[...members]}::text[])`.execute(
    trx,
  );
  await sql`INSERT INTO user_group_members (group_id, username) SELECT ${id}, unnest(${[...members]}::text[])
    ON CONFLICT DO NOTHING`.execute(trx);
}

export async function deleteGroup(trx: Transaction, id: string): Promise<void> {
  await trx.deleteFrom('user_groups').where('id', '=', id).execute();
}
