import { parseArgs } from 'node:util';
import { isUsername } from '#access/accounts/accounts.ts';
import { ROLE_CAPTURE_AGENT, ROLE_EXTERNAL_APPLICATIONS } from '#access/roles/roles.ts';
import { AgentName } from '#capture/agents/agent.schemas.ts';

export const USAGE = `Accounts that sign in with HTTP Basic, and those of machines that do with HTTP Digest as well.

  npm run user -- add NAME [--roles ROLE_A,ROLE_B] [--name TEXT] [--email TEXT] [--password-stdin]
  npm run user -- add NAME --agent [--agent-id ID] [--roles ROLE_A,ROLE_B] [--password-stdin]
  npm run user -- set-roles NAME --roles ROLE_A,ROLE_B
  npm run user -- set-password NAME [--password-stdin]
  npm run user -- remove NAME
  npm run user -- list

The password is read from standard input with --password-stdin, else taken from the variable INLET_USER_PASSWORD, else
made up and printed once. The role "external-applications" stands for ${ROLE_EXTERNAL_APPLICATIONS},
which can do everything the API offers and act for other users; it is what the account of a learning platform needs.
With --agent the account is a machine's: it has the role ${ROLE_CAPTURE_AGENT}, whatever other roles it is given, and can
sign in with HTTP Digest in the realm Opencast. What Digest needs of the password is then kept beside its hash, and is as
good as the password to whoever reads the database: give machines passwords that nobody uses elsewhere, best those that are
made up here. --agent-id binds the account to one capture agent: it cannot speak for another.
Changes take effect within a minute. A user of the identity provider can be removed as well: the name is then free for one
that is written with other letters in upper case.`;

const SHORT_ROLES: ReadonlyMap<string, string> = new Map([['external-applications', ROLE_EXTERNAL_APPLICATIONS]]);

/** Something is wrong with the arguments; the message names which one. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** What a person asks `npm run user` to do. */
export type Invocation =
  | {
      action: 'add';
      username: string;
      name: string;
      email: string;
      roles: string[];
      /** For the account of a machine, and the one capture agent it is for. */
      agent: { id: string | undefined } | undefined;
      passwordStdin: boolean;
    }
  | { action: 'set-roles'; username: string; roles: string[] }
  | { action: 'set-password'; username: string; passwordStdin: boolean }
  | { action: 'remove'; username: string }
  | { action: 'list' }
  | { action: 'help' };

/** @throws {UsageError} */
export function parseInvocation(argv: readonly string[]): Invocation {
  const { values, positionals } = split(argv);
  const [action, username, ...rest] = positionals;
  if (values.help || action === 'help') return { action: 'help' };
  if (action === undefined) throw new UsageError('A command is missing.');
  const surplus = action === 'list' ? username : rest[0];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many.`);
  const passwordStdin = values['password-stdin'] ?? false;
  if (action !== 'add' && (values.agent || values['agent-id'] !== undefined)) {
    throw new UsageError('--agent and --agent-id are for new accounts; remove this one and add it again.');
  }
  switch (action) {
    case 'add':
      return {
        action,
        username: parseUsername(username),
        name: values.name ?? '',
        email: values.email ?? '',
        roles: parseRoles(values.roles ?? ''),
        agent: parseAgent(values.agent ?? false, values['agent-id']),
        passwordStdin,
      };
    case 'set-roles':
      if (values.roles === undefined) throw new UsageError('--roles is missing.');
      return { action, username: parseUsername(username), roles: parseRoles(values.roles) };
    case 'set-password':
      return { action, username: parseUsername(username), passwordStdin };
    case 'remove':
      return { action, username: parseUsername(username) };
    case 'list':
      return { action };
    default:
      throw new UsageError(`"${action}" is not a command.`);
  }
}

function split(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        roles: { type: 'string' },
        name: { type: 'string' },
        email: { type: 'string' },
        agent: { type: 'boolean' },
        'agent-id': { type: 'string' },
        'password-stdin': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseUsername(name: string | undefined): string {
  if (name === undefined) throw new UsageError('NAME is missing.');
  if (isUsername(name)) return name;
  throw new UsageError(
    `NAME is ${JSON.stringify(name)}; allowed are up to 128 characters without a colon, control characters and outer blanks, but not "anonymous".`,
  );
}

function parseAgent(isAgent: boolean, id: string | undefined): { id: string | undefined } | undefined {
  if (id === undefined) return isAgent ? { id } : undefined;
  if (!isAgent) throw new UsageError('--agent-id: needs --agent.');
  const { error } = AgentName.safeParse(id);
  if (error) throw new UsageError(`--agent-id: ${error.issues[0]?.message}`);
  return { id };
}

function parseRoles(list: string): string[] {
  const roles = list
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '')
    .map((role) => SHORT_ROLES.get(role) ?? role);
  const wrong = roles.find((role) => /[\s\p{Cc}]/u.test(role));
  if (wrong) {
    throw new UsageError(`--roles: ${JSON.stringify(wrong)} is not a role; separate roles with commas.`);
  }
  return [...new Set(roles)];
}
