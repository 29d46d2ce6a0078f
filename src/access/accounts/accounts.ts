import { type Selectable, sql } from 'kysely';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { Account } from '#platform/database/schema.ts';
import { anonymous } from '../principal.ts';
import { userRole } from '../roles/roles.ts';
import type { DigestSecrets } from './secrets.ts';

/** An account as it is stored; `roles` are the granted ones. */
export interface StoredAccount extends Selectable<Account> {
  /** True for the account of a machine. */
  is_agent: boolean;
  /** The one capture agent that it is for. */
  agent_id: string | null;
}

/** The fields of a new account. */
export interface NewAccount {
  username: string;
  password_hash: string;
  name: string;
  email: string;
  roles: string[];
}

const USERNAME = /^[^:\p{Cc}]{1,128}$/u;

/** Checks a user name: HTTP Basic leaves no room for a colon, run-as trims, and `anonymous` is reserved. */
export function isUsername(name: string): boolean {
  return USERNAME.test(name) && name.trim() === name && name !== anonymous.username;
}

/** Finds an account by its exact name. */
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

/** Adds an account. @returns false when the name is taken */
export async function addAccount(db: Queryable, account: NewAccount): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('accounts')
    .values(account)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) === 1;
}

/** Changes the password or the roles. @returns false when the account does not exist */
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

/** Removes an account. @returns false when it does not exist */
export async function removeAccount(db: Queryable, username: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('accounts').where('username', '=', username).executeTakeFirst();
  return Number(numDeletedRows) === 1;
}

/** Finds the account of a machine with its digest secrets; undefined for people's accounts. */
export async function findAgentAccount(db: Queryable, username: string) {
  return db
    .selectFrom('agent_accounts as agent')
    .innerJoin('accounts', 'accounts.username', 'agent.username')
    .select(['accounts.username', 'name', 'email', 'roles', 'agent_id', 'md5', 'sha256'])
    .where('agent.username', '=', username)
    .executeTakeFirst();
}

/** Adds the account of a machine. @returns false when the name is taken */
export async function addAgentAccount(
  db: Database,
  account: NewAccount,
  agent: { agentId: string | undefined; secrets: DigestSecrets },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    if (!(await addAccount(trx, account))) return false;
    await trx
      .insertInto('agent_accounts')
      .values({ username: account.username, agent_id: agent.agentId ?? null, ...agent.secrets })
      .execute();
    return true;
  });
}

/**
 * Changes a password and, for the account of a machine, its digest secrets.
 *
 * @returns false when the account does not exist
 */
export async function changePassword(
  db: Database,
  username: string,
  passwordHash: string,
  secrets: DigestSecrets,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await trx.updateTable('agent_accounts').set(secrets).where('username', '=', username).execute();
    return updateAccount(trx, username, { password_hash: passwordHash });
  });
}

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
  const found = await db.selectFrom('token_users').select('username').where('role', '=', role).executeTakeFirst();
  return found?.username;
}

/** Releases the role of a name for another user. @returns false when this one never had it */
export async function releaseRole(db: Queryable, username: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('token_users').where('username', '=', username).executeTakeFirst();
  return numDeletedRows > 0n;
}
