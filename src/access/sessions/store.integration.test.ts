import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { addAccount, removeAccount, updateAccount } from '../accounts/accounts.ts';
import { Directory, type KnownAccount } from '../accounts/directory.ts';
import { SessionStore, sweepSessions } from './store.ts';

let db: TestDatabase;
let store: SessionStore;
beforeAll(async () => {
  db = await createTestDatabase();
  store = storeOf('opencast');
});
afterAll(() => db.close());

function directoryOf(password: string) {
  return new Directory({ database: db.database, admin: { username: 'admin', password } });
}

/** As another process has it, whose administrator has this password. */
function storeOf(password: string) {
  return new SessionStore({ database: db.database, directory: directoryOf(password) });
}

let accounts = 0;
async function account(): Promise<KnownAccount> {
  accounts += 1;
  const username = `user-${accounts}`;
  await addAccount(db.database, { username, password_hash: 'x', name: '', email: '', roles: ['ROLE_X'] });
  return (await directoryOf('opencast').find(username)) as KnownAccount;
}

/** Lets time go by for all sessions of an account. */
async function pass(minutes: number, { principal }: KnownAccount): Promise<void> {
  const gone = sql`make_interval(mins => ${minutes}::int)`;
  await sql`UPDATE sessions SET renew_at = renew_at - ${gone}, expires_at = expires_at - ${gone},
    ends_at = ends_at - ${gone} WHERE username = ${principal.username}`.execute(db.database);
}

const isGood = async (cookie: string) => (await store.find(cookie, false)) !== undefined;

test('a session is who signed in, with the roles of now, in every process', async () => {
  const ada = await account();
  const cookie = await store.open(ada);
  expect((await store.find(cookie, true))?.account.principal.username).toBe(ada.principal.username);
  await updateAccount(db.database, ada.principal.username, { roles: ['ROLE_NEW'] });
  const found = await storeOf('opencast').find(cookie, true);
  expect(found?.account.principal.hasRole('ROLE_NEW')).toBe(true);
  expect(found?.account.principal.hasRole('ROLE_X')).toBe(false);
  for (const other of ['', 'x', `${cookie}x`, cookie.slice(1)]) expect(await isGood(other)).toBe(false);
});

test('whoever reads the database cannot make a cookie of it, nor try passwords', async () => {
  const admin = (await directoryOf('opencast').find('admin')) as KnownAccount;
  const cookie = await store.open(admin);
  expect(Buffer.from(cookie, 'base64url')).toHaveLength(32);
  const { rows } = await sql<{ digest: Buffer; row: string }>`
    SELECT digest, sessions::text AS row FROM sessions WHERE username = 'admin'`.execute(db.database);
  expect(rows[0]?.digest).toEqual(createHash('sha256').update(cookie).digest());
  expect(rows[0]?.row).not.toContain(cookie);
  for (const fast of ['sha256', 'sha1', 'md5']) {
    expect(rows[0]?.row).not.toContain(createHash(fast).update('opencast').digest('hex'));
  }
});

test('a session ends with the password, the account, and the configured password', async () => {
  const [changed, removed] = [await account(), await account()];
  const cookies = [await store.open(changed), await store.open(removed)];
  await updateAccount(db.database, changed.principal.username, { password_hash: 'y' });
  await removeAccount(db.database, removed.principal.username);
  for (const cookie of cookies) expect(await isGood(cookie)).toBe(false);
  await updateAccount(db.database, changed.principal.username, { password_hash: 'x' });
  expect(await isGood(cookies[0] ?? '')).toBe(false);

  const cookie = await store.open((await directoryOf('opencast').find('admin')) as KnownAccount);
  expect(await isGood(cookie)).toBe(true);
  expect(await storeOf('another').find(cookie, true)).toBeUndefined();
});

test('it ends after two hours without a request, and after a day with requests', async () => {
  const [idle, busy] = [await account(), await account()];
  const [idleCookie, busyCookie] = [await store.open(idle), await store.open(busy)];
  await pass(119, idle);
  expect(await isGood(idleCookie)).toBe(true);
  await pass(119, idle);
  expect(await isGood(idleCookie)).toBe(true);
  await pass(121, idle);
  expect(await isGood(idleCookie)).toBe(false);
  for (let hours = 1; hours < 24; hours += 1) {
    await pass(60, busy);
    expect([hours, await isGood(busyCookie)]).toEqual([hours, true]);
  }
  await pass(60, busy);
  expect(await isGood(busyCookie)).toBe(false);
});

test('the cookie is replaced every quarter of an hour, once for many requests, and the former one ends', async () => {
  const ada = await account();
  const first = await store.open(ada);
  await pass(14, ada);
  expect((await store.find(first, true))?.renewed).toBeUndefined();
  await pass(2, ada);
  // An answer that takes long would bring it too late.
  expect((await store.find(first, false))?.renewed).toBeUndefined();
  const many = await Promise.all(Array.from({ length: 8 }, () => store.find(first, true)));
  const renewed = many.flatMap((session) => session?.renewed ?? []);
  expect([many.includes(undefined), renewed.length]).toEqual([false, 1]);
  const [second = ''] = renewed;
  expect(second).not.toBe(first);
  // Requests under way have the first one still; it ends a minute after the second one came.
  expect([await isGood(second), await isGood(first)]).toEqual([true, true]);
  await pass(2, ada);
  expect([await isGood(second), await isGood(first)]).toEqual([true, false]);
});

test('a new cookie that never arrived signs nobody out', async () => {
  const ada = await account();
  const first = await store.open(ada);
  await pass(16, ada);
  expect((await store.find(first, true))?.renewed).toBeDefined();
  await pass(30, ada);
  const again = await store.find(first, true);
  expect(again?.renewed).toBeDefined();
  expect(await isGood(again?.renewed ?? '')).toBe(true);
});

test('of two new cookies, the one that arrives last stays good, whichever it is', async () => {
  for (const last of [0, 1]) {
    const ada = await account();
    const first = await store.open(ada);
    const renewed: string[] = [];
    for (const minutes of [16, 2]) {
      await pass(minutes, ada);
      renewed.push((await store.find(first, true))?.renewed ?? '');
    }
    expect(await isGood(renewed[1 - last] ?? '')).toBe(true);
    await pass(2, ada);
    expect(await isGood(renewed[last] ?? '')).toBe(true);
  }
});

test('renewing does not make a session last longer than a day', async () => {
  const ada = await account();
  let cookie = await store.open(ada);
  for (let hours = 1; hours < 24; hours += 1) {
    await pass(60, ada);
    cookie = (await store.find(cookie, true))?.renewed ?? '';
    expect([hours, await isGood(cookie)]).toEqual([hours, true]);
  }
  await pass(60, ada);
  expect(await isGood(cookie)).toBe(false);
});

test('signing out ends every cookie of the session, and no other session', async () => {
  const ada = await account();
  const [first, elsewhere] = [await store.open(ada), await store.open(ada)];
  await pass(16, ada);
  const second = (await store.find(first, true))?.renewed ?? '';
  await store.end(second);
  expect([await isGood(first), await isGood(second), await isGood(elsewhere)]).toEqual([false, false, true]);
});

test('signing out ends a cookie that is on its way from a renewal at the same time', async () => {
  const ada = await account();
  const cookie = await store.open(ada);
  let ending: Promise<void> | undefined;
  // As a renewal does it, but slowly.
  await db.database.transaction().execute(async (trx) => {
    await sql`UPDATE sessions SET renew_at = now() WHERE username = ${ada.principal.username}`.execute(trx);
    ending = store.end(cookie);
    await eventually(async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND datname = current_database() AND query LIKE '%DELETE FROM sessions%'`.execute(db.database);
      expect(rows).toHaveLength(1);
    });
    await sql`INSERT INTO sessions (digest, sign_in, username, seal, renew_at, expires_at, ends_at)
      SELECT sha256(digest), sign_in, username, seal, renew_at, expires_at, ends_at FROM sessions
      WHERE username = ${ada.principal.username}`.execute(trx);
  });
  await ending;
  const { rows } = await sql`SELECT FROM sessions WHERE username = ${ada.principal.username}`.execute(
    db.database,
  );
  expect(rows).toEqual([]);
});

test('what has expired is swept, and nothing else', async () => {
  const [gone, here] = [await account(), await account()];
  await store.open(gone);
  const cookie = await store.open(here);
  await pass(121, gone);
  expect(await sweepSessions(db.database)).toBeGreaterThanOrEqual(1);
  const { rows } = await sql`SELECT FROM sessions WHERE username = ${gone.principal.username}`.execute(
    db.database,
  );
  expect(rows).toEqual([]);
  expect(await isGood(cookie)).toBe(true);
});
