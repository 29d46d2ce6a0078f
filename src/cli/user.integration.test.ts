import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { findAccount } from '../access/accounts/accounts.ts';
import { findAgentAccount } from '../access/accounts/agent-accounts.ts';
import { digestSecrets } from '../access/accounts/digest-secrets.ts';
import { verifyPassword } from '../access/accounts/password.ts';
import { holdRole } from '../access/accounts/token-users.ts';
import { main } from './user.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => db.database.deleteFrom('accounts').execute());
afterAll(() => db.close());

/** Runs `npm run user -- ...` and returns its exit code and what it said. */
async function user(line: string, given: { stdin?: string; password?: string; url?: string } = {}) {
  const said: string[] = [];
  const complained: string[] = [];
  const code = await main(line.split(' ').filter(Boolean), {
    databaseUrl: given.url ?? db.url,
    adminUsername: 'admin',
    password: given.password,
    readStdin: async () => given.stdin ?? '',
    print: (text) => void said.push(text),
    complain: (text) => void complained.push(text),
  });
  return { code, said: said.join('\n'), complaint: complained[0] };
}

test('a password that is made up is printed once and is the account’s', async () => {
  const { code, said } = await user('add ada --roles ROLE_A,ROLE_B,ROLE_A --email ada@example.org');
  expect(code).toBe(0);
  const account = await findAccount(db.database, 'ada');
  expect(account).toMatchObject({ email: 'ada@example.org', name: '', roles: ['ROLE_A', 'ROLE_B'] });
  const password = /shown only now: (\S{24})$/.exec(said)?.[1] ?? '';
  expect(await verifyPassword(password, account?.password_hash ?? '')).toBe(true);
  expect((await user('list')).said).toBe('ada\tROLE_A,ROLE_B');
});

test('passwords come from standard input or the environment and are not printed', async () => {
  const fromStdin = await user('add ada --password-stdin', { stdin: 'from: stdin \r\n', password: 'unused' });
  const fromEnvironment = await user('add bob', { password: 'from the environment' });
  expect(`${fromStdin.said}${fromEnvironment.said}`).not.toContain('from');
  for (const [username, password] of [
    ['ada', 'from: stdin '],
    ['bob', 'from the environment'],
  ] as const) {
    const hash = (await findAccount(db.database, username))?.password_hash ?? '';
    expect([username, await verifyPassword(password, hash)]).toEqual([username, true]);
  }
});

test('roles and password can be changed, and the account removed', async () => {
  await user('add ada', { password: 'old' });
  expect((await user('set-roles ada --roles external-applications')).code).toBe(0);
  expect((await user('set-password ada', { password: 'new' })).code).toBe(0);
  const account = await findAccount(db.database, 'ada');
  expect(account?.roles).toEqual(['ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS']);
  expect(await verifyPassword('new', account?.password_hash ?? '')).toBe(true);
  expect((await user('remove ada')).code).toBe(0);
  expect((await user('list')).said).toBe('There are no accounts beside the administrator.');
});

test('the account of a machine has its role, and beside the hash what Digest needs of each password', async () => {
  const added = await user('add hall --agent --agent-id Hall/1 --roles ROLE_A --password-stdin', {
    stdin: 'old',
  });
  await user('add any --agent', { password: 'old' });
  await user('add ada --roles ROLE_A', { password: 'old' });
  const list =
    'ada\tROLE_A\nany\tROLE_CAPTURE_AGENT\tany agent\nhall\tROLE_CAPTURE_AGENT,ROLE_A\tagent Hall/1';
  const { said } = await user('list');
  expect(said).toBe(list);
  const kept = async (username: string) => {
    const { md5, sha256 } = (await findAgentAccount(db.database, username)) ?? {};
    const hash = (await findAccount(db.database, username))?.password_hash ?? '';
    return { digest: { md5, sha256 }, right: await verifyPassword('new', hash) };
  };
  expect((await kept('hall')).digest).toEqual(digestSecrets('hall', 'old'));
  expect(`${added.said}${said}`).not.toMatch(/[\da-f]{32}/);
  for (const username of ['hall', 'ada']) {
    expect((await user(`set-password ${username}`, { password: 'new' })).code).toBe(0);
    expect((await user(`set-roles ${username} --roles ROLE_B`)).code).toBe(0);
  }
  expect(await kept('hall')).toEqual({ digest: digestSecrets('hall', 'new'), right: true });
  expect(await kept('ada')).toEqual({ digest: { md5: undefined, sha256: undefined }, right: true });
  expect((await user('list')).said).toBe(list.replaceAll(/ROLE_A\b/g, 'ROLE_B'));
  expect((await user('remove hall')).code).toBe(0);
  expect(await findAgentAccount(db.database, 'hall')).toBeUndefined();
});

test.each([
  ['', 'A command is missing.'],
  ['drop ada', '"drop" is not a command.'],
  ['add', 'NAME is missing.'],
  ['add a:b', 'NAME is "a:b"'],
  ['add anonymous', 'NAME is "anonymous"'],
  ['add ada bob', '"bob" is one argument too many.'],
  ['add ada --role X', "Unknown option '--role'"],
  ['add ada --roles A\tB', '--roles: "A\\tB" is not a role'],
  ['set-roles ada', '--roles is missing.'],
  ['add ada --agent-id hall', '--agent-id: needs --agent.'],
  ['add ada --agent --agent-id ..', '--agent-id: The name of the capture agent is ".."'],
  ['set-roles ada --roles A --agent', '--agent and --agent-id are for new accounts'],
  ['list --agent', '--agent and --agent-id are for new accounts'],
  ['add ada --password-stdin', '--password-stdin: a password cannot be empty'],
])('%j is wrong usage', async (line, complaint) => {
  const result = await user(line);
  expect([result.code, result.complaint]).toEqual([2, expect.stringContaining(complaint)]);
  expect((await user('list')).said).toContain('no accounts');
});

test('what the database knows better is refused by name', async () => {
  await user('add a_b', { password: 'x' });
  await holdRole(db.database, 'Grace');
  for (const [line, complaint] of [
    ['add a_b', 'NAME: there is an account "a_b" already.'],
    ['add A_B', 'NAME: "A_B" would share the role ROLE_USER_A_B with "a_b".'],
    ['add grace', 'NAME: "grace" would share the role ROLE_USER_GRACE with "Grace".'],
    ['add admin', 'NAME: "admin" is the administrator of the configuration.'],
    ['remove nobody', 'NAME: there is no account "nobody".'],
    ['set-roles nobody --roles A', 'NAME: there is no account "nobody".'],
    ['set-password nobody', 'NAME: there is no account "nobody".'],
  ] as const) {
    expect(await user(line, { password: 'y' })).toEqual({ code: 1, said: '', complaint });
  }
  const hash = (await findAccount(db.database, 'a_b'))?.password_hash ?? '';
  expect(await verifyPassword('x', hash)).toBe(true);
});

test('a user of the identity provider can be removed, which frees the name for another one', async () => {
  expect(await holdRole(db.database, 'Ruth')).toBe('Ruth');
  expect(await holdRole(db.database, 'ruth')).toBe('Ruth');
  expect((await user('remove Ruth')).said).toBe('Removed Ruth.');
  expect(await holdRole(db.database, 'ruth')).toBe('ruth');
});

test('a database that does not answer or has no tables is said so', async () => {
  const nowhere = await user('list', { url: 'postgres://nobody@127.0.0.1:1/none' });
  expect(nowhere.complaint).toMatch(/^The database does not answer/);
  const empty = new URL(db.url);
  empty.searchParams.set('options', '-c search_path=nowhere');
  expect((await user('list', { url: empty.toString() })).complaint).toMatch(/npm run migrate/);
});
