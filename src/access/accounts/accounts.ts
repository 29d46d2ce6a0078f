import { type Selectable, sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Account } from '#platform/database/schema.ts';
import { anonymous } from '../principal.ts';

/** An account as it is stored; `roles` are the granted ones. */
export interface StoredAccount extends Selectable<Account> {
  /** Whether it is a machine's. */
  is_agent: boolean;
  /** The one capture agent that it is for. */
  agent_id: string | null;
}

/** What there is to say of a new account. */
export interface NewAccount {
  username: string;
  password_hash: string;
  name: string;
  email: string;
  roles: string[];
}

const USERNAME = /^[^:\p{Cc}]{1,128}$/u;

/** Whether an account can have this name: HTTP Basic leaves no room for a colon, run-as trims, nobody is `anonymous`. */
export function isUsername(name: string): boolean {
  return USERNAME.test(name) && name.trim() === name && name !== anonymous.username;
}

export async function findAccount(db: Queryable, username: string): Promise<StoredAccount | undefined> {
  return accountsOf(db).where('accounts.username', '=', username).executeTakeFirst();
}

/** The names of accounts that differ from this one in nothing but the case of ASCII letters. */
export async function usernamesInAnyCase(db: Queryable, username: string): Promise<string[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('username')
    .where(sql`upper(username COLLATE "C")`, '=', sql<string>`upper(${username}::text COLLATE "C")`)
    .execute();
  return rows.map((row) => row.username);
}

/** All accounts by name. */
export async function listAccounts(db: Queryable): Promise<StoredAccount[]> {
  return accountsOf(db).orderBy('accounts.username').execute();
}

function accountsOf(db: Queryable) {
  return db
    .selectFrom('accounts')
    .leftJoin('agent_accounts as agent', 'agent.username', 'accounts.username')
    .selectAll('accounts')
    .select(['agent.agent_id', sql<boolean>`agent.username IS NOT NULL`.as('is_agent')]);
}

/** @returns false when the name is taken */
export async function addAccount(db: Queryable, account: NewAccount): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('accounts')
    .values(account)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) === 1;
}

/** @returns false when there is no such account */
export async function updateAccount(
  db: Queryable,
  username: string,
  changes: { password_hash: string } | { roles: string[] },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('accounts')
    .set(changes)
    .where('username', '=', username)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** @returns false when there is no such account */
export async function removeAccount(db: Queryable, username: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('accounts')
    .where('username', '=', username)
    .executeTakeFirst();
  return Number(numDeletedRows) === 1;
}
