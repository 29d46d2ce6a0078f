import { type Selectable, sql } from 'kysely';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { Account } from '#platform/database/schema.ts';
import { anonymous } from '../principal.ts';
import { userRole } from '../roles/roles.ts';
import { leaveGroups } from './memberships.ts';
import type { DigestSecrets } from './secrets.ts';

export interface StoredAccount extends Selectable<Account> {
  is_agent: boolean;
  /** The only capture agent that the account may act for. */
  agent_id: string | null;
}

type NewAccount = Omit<Selectable<Account>, 'created_at'>;

const USERNAME = /^[^:\p{Cc}]{1,128}$/u;

/** Checks a user name: HTTP Basic allows no colon, run-as trims blanks, and `anonymous` is reserved. */
export function isUsername(name: string): boolean {
  return USERNAME.test(name) && name.trim() === name && name !== anonymous.username;
}

export async function findAccount(db: Queryable, username: string): Promise<StoredAccount | undefined> {
  return accountsOf(db).where('accounts.username', '=', username).executeTakeFirst();
}

/** Returns the user names that equal this one, ignoring the case of ASCII letters. */
export async function usernamesInAnyCase(db: Queryable, username: string): Promise<string[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('username')
    .where(sql`upper(username COLLATE "C")`, '=', sql<string>`upper(${username}::text COLLATE "C")`)
    .execute();
  return rows.map((row) => row.username);
}

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

/** @returns false if the user name is taken */
export async function addAccount(db: Queryable, account: NewAccount): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('accounts')
    .values(account)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) === 1;
}

/** @returns false if the account does not exist */
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

/** @returns false if the account does not exist */
export async function removeAccount(db: Queryable, username: string): Promise<boolean> {
  await leaveGroups(db, username);
  const { numDeletedRows } = await db.deleteFrom('accounts').where('username', '=', username).executeTakeFirst();
  return Number(numDeletedRows) === 1;
}

/** Returns the account of a capture agent with its digest secrets; undefined for people's accounts. */
export async function findAgentAccount(db: Queryable, username: string) {
  return db
    .selectFrom('agent_accounts as agent')
    .innerJoin('accounts', 'accounts.username', 'agent.username')
    .select(['accounts.username', 'name', 'email', 'roles', 'agent_id', 'md5', 'sha256'])
    .where('agent.username', '=', username)
    .executeTakeFirst();
}

/** Adds the account of a capture agent. @returns false if the user name is taken */
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

/** Changes a password and, for a capture agent, its digest secrets. @returns false if the account does not exist */
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
 * Reserves the user role of an identity provider's user. User names that differ only in case share one role, which the
 * first of these users keeps.
 *
 * @returns the user name that holds the role: another one if the role was already taken
 */
export async function reserveUserRole(db: Queryable, username: string): Promise<string> {
  const role = userRole(username);
  const known = await findRoleHolder(db, role);
  if (known !== undefined) return known;
  await db
    .insertInto('token_users')
    .values({ role, username })
    .onConflict((taken) => taken.doNothing())
    .execute();
  return (await findRoleHolder(db, role)) ?? username;
}

/** Returns the identity provider's user who has a role; undefined if nobody has it. */
export async function findRoleHolder(db: Queryable, role: string): Promise<string | undefined> {
  const found = await db.selectFrom('token_users').select('username').where('role', '=', role).executeTakeFirst();
  return found?.username;
}

/** Releases a user's role for another user. @returns false if the user has no role */
export async function releaseUserRole(db: Queryable, username: string): Promise<boolean> {
  await leaveGroups(db, username);
  const { numDeletedRows } = await db.deleteFrom('token_users').where('username', '=', username).executeTakeFirst();
  return numDeletedRows > 0n;
}
