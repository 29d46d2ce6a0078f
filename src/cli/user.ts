import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import {
  addAccount,
  addAgentAccount,
  changePassword,
  findAccount,
  holderOf,
  listAccounts,
  releaseRole,
  removeAccount,
  type StoredAccount,
  updateAccount,
} from '#access/accounts/accounts.ts';
import { digestSecrets, hashPassword } from '#access/accounts/secrets.ts';
import { ROLE_CAPTURE_AGENT, userRole } from '#access/roles/roles.ts';
import { loadConfig } from '#platform/config/config.ts';
import { createDatabase, type Database } from '#platform/database/kysely.ts';
import { isDatabaseOutage } from '#platform/database/outage.ts';
import { createPool } from '#platform/database/pool.ts';
import { ConfigError } from '#platform/setting/config-error.ts';
import { type Invocation, parseInvocation, USAGE, UsageError } from './user-arguments.ts';

const UNDEFINED_TABLE = '42P01';

/** What the command works with beside its arguments. */
export interface UserCommand {
  databaseUrl: string;
  /** Name of the administrator of the configuration, which no account may have. */
  adminUsername: string;
  /** The value of INLET_USER_PASSWORD. */
  password: string | undefined;
  readStdin(): Promise<string>;
  print(line: string): void;
  complain(line: string): void;
}

/**
 * Adds, changes, removes or lists accounts.
 *
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong arguments; what to tell has been printed
 */
export async function main(argv: readonly string[], command: UserCommand): Promise<number> {
  try {
    const invocation = parseInvocation(argv);
    const lines =
      invocation.action === 'help'
        ? [USAGE]
        : await withDatabase(command.databaseUrl, (db) => run(db, invocation, command));
    for (const line of lines) command.print(line);
    return 0;
  } catch (error) {
    command.complain(explain(error));
    if (!(error instanceof UsageError)) return 1;
    command.complain(`\n${USAGE}`);
    return 2;
  }
}

/** @returns what to tell the person */
async function run(
  db: Database,
  invocation: Exclude<Invocation, { action: 'help' }>,
  command: UserCommand,
): Promise<string[]> {
  switch (invocation.action) {
    case 'add': {
      const { username, name, email, roles, agent } = invocation;
      await requireOwnRole(db, username, command.adminUsername);
      const { password, notice } = await choosePassword(invocation.passwordStdin, command);
      const account = { username, password_hash: await hashPassword(password), name, email };
      const added = agent
        ? await addAgentAccount(
            db,
            { ...account, roles: agentRoles(roles) },
            { agentId: agent.id, secrets: digestSecrets(username, password) },
          )
        : await addAccount(db, { ...account, roles });
      if (!added) throw new Error(`NAME: there is an account "${username}" already.`);
      return [`Added ${username}.`, ...notice];
    }
    case 'set-roles': {
      const { username, roles } = invocation;
      const isAgent = (await findAccount(db, username))?.is_agent;
      const granted = isAgent ? agentRoles(roles) : roles;
      requireFound(await updateAccount(db, username, { roles: granted }), username);
      return [`Changed the roles of ${username}.`];
    }
    case 'set-password': {
      const { username } = invocation;
      const { password, notice } = await choosePassword(invocation.passwordStdin, command);
      const hash = await hashPassword(password);
      const secrets = digestSecrets(username, password);
      requireFound(await changePassword(db, username, hash, secrets), username);
      return [`Changed the password of ${username}.`, ...notice];
    }
    case 'remove': {
      const { username } = invocation;
      const released = await releaseRole(db, username);
      requireFound((await removeAccount(db, username)) || released, username);
      return [`Removed ${username}.`];
    }
    case 'list': {
      const accounts = await listAccounts(db);
      if (accounts.length === 0) return ['There are no accounts beside the administrator.'];
      return accounts.map(lineOf);
    }
  }
}

/** A machine may always do what capture agents do. */
function agentRoles(roles: readonly string[]): string[] {
  return [...new Set([ROLE_CAPTURE_AGENT, ...roles])];
}

function lineOf({ username, roles, is_agent: isAgent, agent_id: agentId }: StoredAccount): string {
  const kind = isAgent ? [agentId === null ? 'any agent' : `agent ${agentId}`] : [];
  return [username, roles.join(','), ...kind].join('\t');
}

/** Two names that differ only in case would share the role that stands for one of them. */
async function requireOwnRole(db: Database, name: string, adminUsername: string): Promise<void> {
  if (name === adminUsername) throw new Error(`NAME: "${name}" is the administrator of the configuration.`);
  const role = userRole(name);
  const names = [adminUsername, ...(await listAccounts(db)).map(({ username }) => username)];
  const other = names.find((taken) => taken !== name && userRole(taken) === role) ?? (await holderOf(db, role));
  if (other && other !== name) throw new Error(`NAME: "${name}" would share the role ${role} with "${other}".`);
}

async function choosePassword(
  fromStdin: boolean,
  command: UserCommand,
): Promise<{ password: string; notice: string[] }> {
  const given = fromStdin ? (await command.readStdin()).replace(/\r?\n$/, '') : command.password;
  if (given === undefined) {
    const password = randomBytes(18).toString('base64url');
    return { password, notice: [`Password, shown only now: ${password}`] };
  }
  if (given === '' || given.includes('\0')) {
    const source = fromStdin ? '--password-stdin' : 'INLET_USER_PASSWORD';
    throw new UsageError(`${source}: a password cannot be empty or hold a NUL character.`);
  }
  return { password: given, notice: [] };
}

function requireFound(found: boolean, name: string): void {
  if (!found) throw new Error(`NAME: there is no account "${name}".`);
}

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const database = createDatabase(createPool(url, { max: 1, applicationName: 'inlet user', onError: () => undefined }));
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

function explain(error: unknown): string {
  if (isDatabaseOutage(error)) return 'The database does not answer; DATABASE_URL says where it is.';
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === UNDEFINED_TABLE) {
    return 'The database has no tables yet: run "npm run migrate" first.';
  }
  return error.message;
}

/** @returns the exit code */
async function start(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const config = loadConfig(environment);
  if (config.databaseUrl === undefined) throw new ConfigError('DATABASE_URL is not set.');
  return main(argv, {
    databaseUrl: config.databaseUrl,
    adminUsername: config.admin.username,
    password: environment.INLET_USER_PASSWORD || undefined,
    readStdin: () => text(process.stdin),
    print: (line) => console.log(line),
    complain: (line) => console.error(line),
  });
}

if (import.meta.main) {
  try {
    process.exitCode = await start(process.argv.slice(2), process.env);
  } catch (error) {
    console.error(explain(error));
    process.exitCode = 2;
  }
}
