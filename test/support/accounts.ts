import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { addAgentAccount } from '../../src/access/accounts/agent-accounts.ts';
import { digestSecrets } from '../../src/access/accounts/digest-secrets.ts';
import { hashPassword } from '../../src/access/accounts/password.ts';
import type { Database } from '../../src/database/kysely.ts';
import { Client } from './client.ts';
import type { TestServer } from './server.ts';

const PROGRAM = fileURLToPath(new URL('../../src/cli/user.ts', import.meta.url));

/** Adds an account as an operator does. @returns a client that signs in with it */
export async function addAccount(
  { url, databaseUrl }: TestServer,
  username: string,
  roles: string,
): Promise<Client> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [PROGRAM, 'add', username, '--roles', roles],
    { env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl } },
  );
  const password = /Password, shown only now: (\S+)/.exec(stdout)?.[1];
  if (!password) throw new Error(`No password was printed: ${stdout}`);
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
