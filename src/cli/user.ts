import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import {
  addAccount,
  addAgentAccount,
  changePassword,
  findAccount,
  findRoleHolder,
  isUsername,
  listAccounts,
  releaseUserRole,
  removeAccount,
  type StoredAccount,
  updateAccount,
} from '#access/accounts/accounts.ts';
import { digestSecrets, hashPassword } from '#access/accounts/secrets.ts';
import { ROLE_CAPTURE_AGENT, ROLE_EXTERNAL_APPLICATIONS, userRole } from '#access/roles/roles.ts';
import { AgentName } from '#capture/agents/agent.schemas.ts';
import { loadConfig } from '#platform/config/config.ts';
import { createDatabase, type Database } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import { isDatabaseOutage } from '#platform/database/retry.ts';
import { type Command, parseArguments, type Terminal, UsageError } from './command.ts';
import { CommandError } from './failure.ts';
import { prepareDatabase } from './prepare-database.ts';

export const USAGE = `Manages accounts that sign in with HTTP Basic, and accounts of machines, which can also use HTTP Digest.

  npm run user -- add NAME [--roles ROLE_A,ROLE_B] [--name TEXT] [--email TEXT] [--password-stdin]
  npm run user -- add NAME --agent [--agent-id ID] [--roles ROLE_A,ROLE_B] [--password-stdin]
  npm run user -- set-roles NAME --roles ROLE_A,ROLE_B
  npm run user -- set-password NAME [--password-stdin]
  npm run user -- remove NAME
  npm run user -- list

The password is read from standard input with --password-stdin, otherwise from the variable INLET_USER_PASSWORD. If neither is
given, a password is generated and printed once. Changes take effect within a minute.

The role "external-applications" stands for ${ROLE_EXTERNAL_APPLICATIONS}, which permits everything in the API and acting for
other users. Learning platforms need it.

--agent adds the account of a machine. It always has the role ${ROLE_CAPTURE_AGENT} and can sign in with HTTP Digest in the realm
Opencast. The secret that Digest needs is stored beside the password hash and is equivalent to the password for anyone who can
read the database. Give machines unique passwords, best generated ones. --agent-id limits the account to one capture agent.

"remove" also removes a user of the identity provider. The name is then free for one that differs only in upper and lower case.`;

const OPTIONS = {
  roles: { type: 'string' },
  name: { type: 'string', default: '' },
  email: { type: 'string', default: '' },
  agent: { type: 'boolean', default: false },
  'agent-id': { type: 'string' },
  'password-stdin': { type: 'boolean', default: false },
} as const;
const SHORT_ROLES: ReadonlyMap<string, string> = new Map([['external-applications', ROLE_EXTERNAL_APPLICATIONS]]);

interface AccountInput {
  databaseUrl: string;
  /** The name of the configured administrator, which no account may have. */
  adminUsername: string;
  password: string | undefined;
  readStdin(): Promise<string>;
}

/** Runs `npm run user`. */
export const userCommand: Command<Pick<Terminal, 'environment' | 'print'>> = {
  usage: USAGE,
  async run(args, { environment, print }) {
    const config = loadConfig(environment);
    const lines = await manageAccounts(args, {
      databaseUrl: await prepareDatabase(config),
      adminUsername: config.admin.username,
      password: environment.INLET_USER_PASSWORD || undefined,
      readStdin: () => text(process.stdin),
    });
    for (const line of lines) print(line);
    return 0;
  },
};

/** Changes or reads accounts. @returns the lines to print */
type Action = (db: Database) => Promise<string[]>;

/**
 * Adds, changes, removes or lists accounts.
 *
 * @returns the lines to print
 * @throws {CommandError}
 */
export async function manageAccounts(args: readonly string[], input: AccountInput): Promise<string[]> {
  const action = parseAction(args, input);
  const { databaseUrl } = input;
  const pool = createPool(databaseUrl, { max: 1, applicationName: 'inlet user', onError: () => undefined });
  const database = createDatabase(pool);
  try {
    return await action(database);
  } catch (error) {
    if (isDatabaseOutage(error)) throw new CommandError('The database at DATABASE_URL does not answer.');
    throw error;
  } finally {
    await database.destroy();
  }
}

/** @throws {UsageError} */
function parseAction(args: readonly string[], input: AccountInput): Action {
  const { values, positionals } = parseArguments(args, OPTIONS);
  const [action, name] = positionals;
  if (action === 'help') return async () => [USAGE];
  if (action === undefined) throw new UsageError('A command is missing.');
  const [surplus] = positionals.slice(action === 'list' ? 1 : 2);
  if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}".`);
  if (action !== 'add' && (values.agent || values['agent-id'] !== undefined)) {
    throw new UsageError('--agent and --agent-id are only for "add". Remove the account and add it again.');
  }
  if (action === 'list') return list;
  if (!['add', 'set-roles', 'set-password', 'remove'].includes(action)) {
    throw new UsageError(`"${action}" is not a command.`);
  }
  if (action === 'set-roles' && values.roles === undefined) throw new UsageError('--roles is missing.');
  const username = parseUsername(name);
  const roles = parseRoles(values.roles ?? '');
  const password = () => choosePassword(values['password-stdin'], input);
  if (action === 'set-roles') return (db) => setRoles(db, username, roles);
  if (action === 'set-password') return (db) => setPassword(db, username, password);
  if (action === 'remove') return (db) => remove(db, username);
  const agent = parseAgent(values.agent, values['agent-id']);
  const account = { username, name: values.name, email: values.email, roles };
  return async (db) => {
    await requireOwnRole(db, username, input.adminUsername);
    return add(db, account, agent, password);
  };
}

type ChoosePassword = () => Promise<{ password: string; notice: string[] }>;

async function add(
  db: Database,
  { roles, ...columns }: { username: string; name: string; email: string; roles: string[] },
  agent: { id: string | undefined } | undefined,
  choose: ChoosePassword,
): Promise<string[]> {
  const { username } = columns;
  const { password, notice } = await choose();
  const account = { ...columns, password_hash: await hashPassword(password) };
  const secrets = digestSecrets(username, password);
  const added = agent
    ? await addAgentAccount(db, { ...account, roles: agentRoles(roles) }, { agentId: agent.id, secrets })
    : await addAccount(db, { ...account, roles });
  if (!added) throw new CommandError(`NAME: the account "${username}" already exists.`);
  return [`Added ${username}.`, ...notice];
}

async function setRoles(db: Database, username: string, roles: string[]): Promise<string[]> {
  const isAgent = (await findAccount(db, username))?.is_agent;
  requireFound(await updateAccount(db, username, { roles: isAgent ? agentRoles(roles) : roles }), username);
  return [`Changed the roles of ${username}.`];
}

async function setPassword(db: Database, username: string, choose: ChoosePassword): Promise<string[]> {
  const { password, notice } = await choose();
  const hash = await hashPassword(password);
  requireFound(await changePassword(db, username, hash, digestSecrets(username, password)), username);
  return [`Changed the password of ${username}.`, ...notice];
}

async function remove(db: Database, username: string): Promise<string[]> {
  const released = await releaseUserRole(db, username);
  requireFound((await removeAccount(db, username)) || released, username);
  return [`Removed ${username}.`];
}

async function list(db: Database): Promise<string[]> {
  const accounts = await listAccounts(db);
  return accounts.length === 0 ? ['There are no accounts except the administrator.'] : accounts.map(lineOf);
}

function parseUsername(name: string | undefined): string {
  if (name === undefined) throw new UsageError('NAME is missing.');
  if (isUsername(name)) return name;
  throw new UsageError(
    `NAME is ${JSON.stringify(name)}; it must have at most 128 characters, without colons, control characters, and leading or trailing spaces, and must not be "anonymous".`,
  );
}

function parseAgent(isAgent: boolean, id: string | undefined): { id: string | undefined } | undefined {
  if (id === undefined) return isAgent ? { id } : undefined;
  if (!isAgent) throw new UsageError('--agent-id requires --agent.');
  const { error } = AgentName.safeParse(id);
  if (error) throw new UsageError(`--agent-id: ${error.issues[0]?.message}`);
  return { id };
}

function parseRoles(roleList: string): string[] {
  const roles = roleList
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '')
    .map((role) => SHORT_ROLES.get(role) ?? role);
  const wrong = roles.find((role) => /[\s\p{Cc}]/u.test(role));
  if (wrong) throw new UsageError(`--roles: ${JSON.stringify(wrong)} is not a role. Separate roles with commas.`);
  return [...new Set(roles)];
}

function agentRoles(roles: readonly string[]): string[] {
  return [...new Set([ROLE_CAPTURE_AGENT, ...roles])];
}

function lineOf({ username, roles, is_agent: isAgent, agent_id: agentId }: StoredAccount): string {
  const kind = isAgent ? [agentId === null ? 'any agent' : `agent ${agentId}`] : [];
  return [username, roles.join(','), ...kind].join('\t');
}

/** Refuses a name that differs from another one only in case: both would have the same user role. */
async function requireOwnRole(db: Database, name: string, adminUsername: string): Promise<void> {
  if (name === adminUsername) throw new CommandError(`NAME: "${name}" is the configured administrator.`);
  const role = userRole(name);
  const names = [adminUsername, ...(await listAccounts(db)).map(({ username }) => username)];
  const other = names.find((taken) => taken !== name && userRole(taken) === role) ?? (await findRoleHolder(db, role));
  if (other && other !== name) throw new CommandError(`NAME: "${name}" would share the role ${role} with "${other}".`);
}

async function choosePassword(fromStdin: boolean, input: AccountInput): ReturnType<ChoosePassword> {
  const given = fromStdin ? (await input.readStdin()).replace(/\r?\n$/, '') : input.password;
  if (given === undefined) {
    const password = randomBytes(18).toString('base64url');
    return { password, notice: [`Password, shown only now: ${password}`] };
  }
  if (given === '' || given.includes('\0')) {
    const source = fromStdin ? '--password-stdin' : 'INLET_USER_PASSWORD';
    throw new UsageError(`${source}: a password must not be empty or contain a NUL character.`);
  }
  return { password: given, notice: [] };
}

function requireFound(found: boolean, name: string): void {
  if (!found) throw new CommandError(`NAME: the account "${name}" does not exist.`);
}
