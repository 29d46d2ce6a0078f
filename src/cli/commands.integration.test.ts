import { beforeEach, describe, expect, test } from 'vitest';
import { findAccount, findAgentAccount, reserveUserRole } from '#access/accounts/accounts.ts';
import { digestSecrets, verifyPassword } from '#access/accounts/secrets.ts';
import { databaseForThisFile } from '#test/support/database.ts';
import { UsageError } from './command.ts';
import { manageAccounts } from './user.ts';

describe('npm run user', () => {
  const db = databaseForThisFile();
  beforeEach(() => db.database.deleteFrom('accounts').execute());

  /** Runs `npm run user -- ...` and returns its exit code and what it said. */
  async function user(line: string, given: { stdin?: string; password?: string } = {}) {
    try {
      const said = await manageAccounts(line.split(' ').filter(Boolean), {
        databaseUrl: db.url,
        adminUsername: 'admin',
        password: given.password,
        readStdin: async () => given.stdin ?? '',
      });
      return { code: 0, said: said.join('\n'), complaint: undefined };
    } catch (error) {
      return { code: error instanceof UsageError ? 2 : 1, said: '', complaint: (error as Error).message };
    }
  }

  /** Whether this is the password of the account. */
  const opens = async (username: string, password: string) =>
    verifyPassword(password, (await findAccount(db.database, username))?.password_hash ?? '');

  test('a password that is made up is printed once and is the account’s', async () => {
    const { code, said } = await user('add ada --roles ROLE_A,ROLE_B,ROLE_A --email ada@example.org');
    expect(code).toBe(0);
    const account = await findAccount(db.database, 'ada');
    expect(account).toMatchObject({ email: 'ada@example.org', name: '', roles: ['ROLE_A', 'ROLE_B'] });
    const password = /shown only now: (\S{24})$/.exec(said)?.[1] ?? '';
    expect(await opens('ada', password)).toBe(true);
    expect((await user('list')).said).toBe('ada\tROLE_A,ROLE_B');
  });

  test('passwords come from standard input or the environment and are not printed', async () => {
    const fromStdin = await user('add ada --password-stdin', {
      stdin: 'from: stdin \r\n',
      password: 'unused',
    });
    const fromEnvironment = await user('add bob', { password: 'from the environment' });
    expect(`${fromStdin.said}${fromEnvironment.said}`).not.toContain('from');
    expect(await opens('ada', 'from: stdin ')).toBe(true);
    expect(await opens('bob', 'from the environment')).toBe(true);
  });

  test('roles and password can be changed, and the account removed', async () => {
    await user('add ada', { password: 'old' });
    expect((await user('set-roles ada --roles external-applications')).code).toBe(0);
    expect((await user('set-password ada', { password: 'new' })).code).toBe(0);
    const account = await findAccount(db.database, 'ada');
    expect(account?.roles).toEqual(['ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS']);
    expect(await opens('ada', 'new')).toBe(true);
    expect((await user('remove ada')).code).toBe(0);
    expect((await user('list')).said).toBe('There are no accounts except the administrator.');
  });

  test('the account of a machine has its role, and beside the hash what Digest needs of each password', async () => {
    const added = await user('add hall --agent --agent-id Hall/1 --roles ROLE_A --password-stdin', {
      stdin: 'old',
    });
    await user('add any --agent', { password: 'old' });
    await user('add ada --roles ROLE_A', { password: 'old' });
    const list = 'ada\tROLE_A\nany\tROLE_CAPTURE_AGENT\tany agent\nhall\tROLE_CAPTURE_AGENT,ROLE_A\tagent Hall/1';
    const { said } = await user('list');
    expect(said).toBe(list);
    const kept = async (username: string) => {
      const { md5, sha256 } = (await findAgentAccount(db.database, username)) ?? {};
      return { digest: { md5, sha256 }, right: await opens(username, 'new') };
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
    ['add ada bob', 'Unexpected argument "bob".'],
    ['add ada --role X', "Unknown option '--role'"],
    ['add ada --roles A\tB', '--roles: "A\\tB" is not a role'],
    ['set-roles ada', '--roles is missing.'],
    ['add ada --agent-id hall', '--agent-id requires --agent.'],
    ['add ada --agent --agent-id ..', '--agent-id: The name of the capture agent is ".."'],
    ['set-roles ada --roles A --agent', '--agent and --agent-id are only for "add"'],
    ['list --agent', '--agent and --agent-id are only for "add"'],
    ['add ada --password-stdin', '--password-stdin: a password must not be empty'],
  ])('%j is wrong usage', async (line, complaint) => {
    const result = await user(line);
    expect([result.code, result.complaint]).toEqual([2, expect.stringContaining(complaint)]);
    expect((await user('list')).said).toContain('no accounts');
  });

  test('what the database knows better is refused by name', async () => {
    await user('add a_b', { password: 'x' });
    await reserveUserRole(db.database, 'Grace');
    for (const [line, complaint] of [
      ['add a_b', 'NAME: the account "a_b" already exists.'],
      ['add A_B', 'NAME: "A_B" would share the role ROLE_USER_A_B with "a_b".'],
      ['add grace', 'NAME: "grace" would share the role ROLE_USER_GRACE with "Grace".'],
      ['add admin', 'NAME: "admin" is the configured administrator.'],
      ['remove nobody', 'NAME: the account "nobody" does not exist.'],
      ['set-roles nobody --roles A', 'NAME: the account "nobody" does not exist.'],
      ['set-password nobody', 'NAME: the account "nobody" does not exist.'],
    ] as const) {
      expect(await user(line, { password: 'y' })).toEqual({ code: 1, said: '', complaint });
    }
    expect(await opens('a_b', 'x')).toBe(true);
  });

  test('a database that does not answer is said so', async () => {
    const input = { adminUsername: 'admin', password: undefined, readStdin: async () => '' };
    const listing = manageAccounts(['list'], { ...input, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    await expect(listing).rejects.toThrow('The database at DATABASE_URL does not answer.');
  });

  test('a user of the identity provider can be removed, which frees the name for another one', async () => {
    expect(await reserveUserRole(db.database, 'Ruth')).toBe('Ruth');
    expect(await reserveUserRole(db.database, 'ruth')).toBe('Ruth');
    expect((await user('remove Ruth')).said).toBe('Removed Ruth.');
    expect(await reserveUserRole(db.database, 'ruth')).toBe('ruth');
  });
});
