import type { Database, Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { addAccount, type NewAccount, updateAccount } from './accounts.ts';
import type { DigestSecrets } from './digest-secrets.ts';

/** The account of a machine with what Digest keeps of its password; undefined for people's accounts and for none. */
export async function findAgentAccount(db: Queryable, username: string) {
  return db
    .selectFrom('agent_accounts as agent')
    .innerJoin('accounts', 'accounts.username', 'agent.username')
    .select(['accounts.username', 'name', 'email', 'roles', 'agent_id', 'md5', 'sha256'])
    .where('agent.username', '=', username)
    .executeTakeFirst();
}

/** @returns false when the name is taken */
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
 * Changes a password wherever something of it is kept; people's accounts have no secrets of Digest, and get none.
 *
 * @returns false when there is no such account
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
