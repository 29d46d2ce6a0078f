import { scryptSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { addAccount, removeAccount, updateAccount } from '../accounts/accounts.ts';
import { Directory } from '../accounts/directory.ts';
import { hashPassword } from '../accounts/password.ts';
import { anonymous } from '../principal.ts';
import { Authenticator } from './authenticator.ts';

let db: TestDatabase;
let now = 0;
const clock = () => now;

/** A directory over the test database that counts how often an account is looked up. */
function directory() {
  const built = new Directory({ database: db.database, admin: { username: 'admin', password: 'opencast' } });
  return { built, find: vi.spyOn(built, 'find') };
}

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

async function account(username: string, password: string) {
  await addAccount(db.database, {
    username,
    password_hash: await hashPassword(password),
    name: 'Ada L.',
    email: 'ada@example.org',
    roles: ['ROLE_X'],
  });
}

test('accounts and the administrator get in with their password only', async () => {
  await account('ada', 'secret');
  const authenticator = new Authenticator(directory().built);
  const ada = await authenticator.authenticate('ada', 'secret', 'a');
  expect(ada).toMatchObject({ username: 'ada', name: 'Ada L.', email: 'ada@example.org' });
  expect([ada?.hasRole('ROLE_X'), ada?.isAdmin()]).toEqual([true, false]);
  expect((await authenticator.authenticate('admin', 'opencast', 'a'))?.isAdmin()).toBe(true);
  for (const [username, password] of [
    ['ada', 'Secret'],
    ['ada', ''],
    ['Ada', 'secret'],
    ['admin', 'secret'],
    ['nobody', 'opencast'],
  ] as const) {
    expect([username, await authenticator.authenticate(username, password, 'a')]).toEqual([
      username,
      undefined,
    ]);
  }
});

test('an account cannot take the administrator’s name', async () => {
  await account('admin', 'taken');
  expect(await new Authenticator(directory().built).authenticate('admin', 'taken', 'a')).toBeUndefined();
});

test('known credentials are not looked up again within a minute, and once for many requests after it', async () => {
  await account('busy', 'secret');
  const { built, find } = directory();
  const authenticator = new Authenticator(built, clock);
  const ask = () => authenticator.authenticate('busy', 'secret', 'a');
  await Promise.all([ask(), ask(), ask()]);
  now += 59_000;
  await ask();
  expect(find).toHaveBeenCalledTimes(1);
  now += 2000;
  expect(await Promise.all([ask(), ask()])).toMatchObject([{ username: 'busy' }, { username: 'busy' }]);
  expect(find).toHaveBeenCalledTimes(2);
});

test('new roles, a new password and removal take effect after a minute', async () => {
  await account('leaver', 'secret');
  const authenticator = new Authenticator(directory().built, clock);
  const ask = (password: string) => authenticator.authenticate('leaver', password, 'a');
  await ask('secret');
  await updateAccount(db.database, 'leaver', { roles: ['ROLE_NEW'] });
  now += 61_000;
  expect((await ask('secret'))?.hasRole('ROLE_NEW')).toBe(true);
  await updateAccount(db.database, 'leaver', { password_hash: await hashPassword('changed') });
  now += 61_000;
  expect(await ask('secret')).toBeUndefined();
  expect(await ask('changed')).toBeDefined();
  await removeAccount(db.database, 'leaver');
  now += 61_000;
  expect(await ask('changed')).toBeUndefined();
});

/** Nobody but `ada` with the password `right`, whose hashes cost next to nothing. */
const cheap = (() => {
  const key = scryptSync('right', Buffer.from('AAAA', 'base64url'), 32, { N: 2, r: 1, p: 1 });
  const passwordHash = `scrypt$N=2,r=1,p=1$AAAA$${key.toString('base64url')}`;
  return {
    find: async (username: string) =>
      username === 'ada' ? { principal: anonymous, passwordHash, credential: passwordHash } : undefined,
    adminHash: async () => passwordHash,
  };
})();

test('guessing is stopped per account and address from the last success on, and known credentials never', async () => {
  const authenticator = new Authenticator(cheap, clock);
  const ask = (password: string, address = 'a') => authenticator.authenticate('ada', password, address);
  for (let i = 0; i < 19; i += 1) expect(await ask(`early ${i}`)).toBeUndefined();
  expect(await ask('right')).toBe(anonymous);
  for (let i = 0; i < 20; i += 1) expect(await ask(`guess ${i}`)).toBeUndefined();
  await expect(ask('guess 20')).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '60' } });
  expect(await ask('right')).toBe(anonymous);
  expect(await ask('guess 20', 'b')).toBeUndefined();
  now += 60_000;
  expect(await ask('guess 20')).toBeUndefined();
  expect(await ask('right')).toBe(anonymous);
});

test('requests that wait for the same wrong password count each, at the address they come from', async () => {
  const authenticator = new Authenticator(cheap, clock);
  const ask = (address: string) => authenticator.authenticate('ada', 'wrong', address);
  const twenty = Array.from({ length: 20 }, () => ask('a'));
  expect(await Promise.all([...twenty, ask('b')])).toEqual(Array(21).fill(undefined));
  await expect(ask('a')).rejects.toMatchObject({ status: 429 });
  expect(await ask('b')).toBeUndefined();
});

test('an address that has to wait does not learn from another one whether its guess is right', async () => {
  const authenticator = new Authenticator(cheap, clock);
  for (let i = 0; i < 20; i += 1) await authenticator.authenticate('ada', `guess ${i}`, 'a');
  const elsewhere = authenticator.authenticate('ada', 'right', 'b');
  await expect(authenticator.authenticate('ada', 'right', 'a')).rejects.toMatchObject({ status: 429 });
  expect(await elsewhere).toBe(anonymous);
});

test('an address that has to wait does not learn whether its guess is right from who signed in before', async () => {
  const authenticator = new Authenticator(cheap, clock);
  expect(await authenticator.authenticate('ada', 'right', 'b')).toBe(anonymous);
  for (let i = 0; i < 20; i += 1) await authenticator.authenticate('ada', `guess ${i}`, 'a');
  for (const ask of ['authenticate', 'signIn'] as const) {
    await expect(authenticator[ask]('ada', 'right', 'a')).rejects.toMatchObject({ status: 429 });
    expect(await authenticator[ask]('ada', 'right', 'b')).toBeDefined();
  }
});

test('guesses that come all at once are twenty, and many requests with the right password are all answered', async () => {
  const authenticator = new Authenticator(cheap, clock);
  const ask = (password: string) =>
    authenticator.authenticate('ada', password, 'a').catch((error) => error.status);
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(`guess ${i}`)));
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(20);
  expect(answers.filter((answer) => answer === 429)).toHaveLength(40);
  now += 60_000;
  expect(await Promise.all(Array.from({ length: 60 }, () => ask('right')))).toEqual(
    Array(60).fill(anonymous),
  );
});

test('who tries one account after the other from one network has to wait, and nobody else', async () => {
  const authenticator = new Authenticator(cheap, clock);
  const ask = (i: number, address: string) => authenticator.authenticate(`nobody ${i}`, 'x', address);
  for (let i = 0; i < 200; i += 1) expect(await ask(i, `2001:db8::${i.toString(16)}`)).toBeUndefined();
  await expect(ask(200, '2001:db8::ffff')).rejects.toMatchObject({ status: 429 });
  expect(await ask(200, '2001:db8:0:1::1')).toBeUndefined();
});

test('one network does not have all the places of those who wait to sign in', async () => {
  const authenticator = new Authenticator(cheap, clock);
  const flood = Array.from({ length: 80 }, (_, i) =>
    authenticator.authenticate(`nobody ${i}`, 'x', 'a').catch((error) => error.status),
  );
  expect(await authenticator.authenticate('ada', 'right', 'b')).toBe(anonymous);
  expect((await Promise.all(flood)).filter((answer) => answer === 503)).toHaveLength(80 - 2 - 32);
});

test('an unknown user is not let in by the password whose hash stands in for its own', async () => {
  expect(await new Authenticator(cheap, clock).authenticate('nobody', 'right', 'a')).toBeUndefined();
});

test('more sign-ins at once than can wait are refused, and all others answered', async () => {
  const authenticator = new Authenticator(cheap, clock);
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, i) =>
      authenticator.authenticate(`nobody ${i}`, 'x', `${i}`).catch((error) => error.status),
    ),
  );
  expect(answers.filter((answer) => answer === 503)).toHaveLength(80 - 2 - 64);
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(2 + 64);
  expect(await authenticator.authenticate('ada', 'right', 'a')).toBe(anonymous);
});
