import { addAgentAccount } from '#access/accounts/accounts.ts';
import { digestSecrets, hashPassword } from '#access/accounts/secrets.ts';
import { manageAccounts } from '#cli/user.ts';
import type { Database } from '#platform/database/kysely.ts';
import { Client } from './client.ts';
import type { TestServer } from './server.ts';

/** Runs the command `npm run user` in this process. @returns what it printed */
export async function userCommand(databaseUrl: string, args: readonly string[], password?: string): Promise<string> {
  const readStdin = () => Promise.reject(new Error('No test types a password.'));
  const printed = await manageAccounts(args, { databaseUrl, adminUsername: 'admin', password, readStdin });
  return printed.join('\n');
}

/** Adds an account as an operator does. @returns a client that signs in with it */
export async function addAccount({ url, databaseUrl }: TestServer, username: string, roles: string): Promise<Client> {
  const printed = await userCommand(databaseUrl, ['add', username, '--roles', roles]);
  const password = /Password, shown only now: (\S+)/.exec(printed)?.[1];
  if (!password) throw new Error(`No password was printed: ${printed}`);
  return new Client(url, username, password);
}

/** Adds the account of a machine whose password is `secret`. */
export async function addMachine(
  database: Database,
  username: string,
  { agentId, roles = [] }: { agentId?: string; roles?: readonly string[] } = {},
): Promise<void> {
  const password_hash = await hashPassword('secret');
  const account = { username, password_hash, name: '', email: '', roles: ['ROLE_CAPTURE_AGENT', ...roles] };
  await addAgentAccount(database, account, { agentId, secrets: digestSecrets(username, 'secret') });
}
