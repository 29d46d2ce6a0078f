import { createHash } from 'node:crypto';
import type { Hono } from 'hono';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { Rules } from '#platform/http/endpoint/rules.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { endpointApp } from '#test/support/endpoint-app.ts';
import { eventually } from '#test/support/eventually.ts';
import { insertEvent } from '#test/support/publication.ts';
import { addAccount, removeAccount, updateAccount } from './accounts/accounts.ts';
import { Directory, type KnownAccount } from './accounts/directory.ts';
import { runAs } from './accounts/run-as.ts';
import { hashPassword } from './accounts/secrets.ts';
import { type Action, aclsOf, mayAccess, replaceAcl, requireAccess } from './acl/acl.queries.ts';
import { engageUrl, myRoles, organization, organizationProperties, me as whoAmI } from './info.endpoints.ts';
import { anonymous } from './principal.ts';
import { ADMINISTRATORS } from './roles/api-roles.ts';
import { requireRole } from './roles/authorization.ts';
import { SessionStore, sweepSessions } from './sessions/sessions.ts';
import { authenticate } from './sign-in/authentication.ts';
import { Authenticator } from './sign-in/authenticator.ts';
import { DigestVerifier, Nonces, nonceKeyReader } from './sign-in/digest/digest-verifier.ts';

const db = await createTestDatabase();
const { database } = db;
afterAll(() => db.close());

const directoryOf = (password = 'opencast') => new Directory({ database, admin: { username: 'admin', password } });

async function account(username: string, password: string, roles = ['ROLE_X'], name = 'Ada L.') {
  const password_hash = await hashPassword(password);
  await addAccount(database, { username, password_hash, name, email: 'ada@example.org', roles });
}

/** Waits until so many requests whose statement contains a text wait for a lock. */
const expectWaiting = (text = '') =>
  eventually(async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE ${`%${text}%`}`.execute(database);
    expect(rows, 'One waits for a lock.').toHaveLength(1);
  });

describe('access control lists', () => {
  const missing = (id: string) => notFound(`'${id}' is missing`);
  const withRoles = (...roles: string[]) => anonymous.withRoles(roles);
  const change = (work: (trx: Transaction) => Promise<unknown>) => database.transaction().execute(work);
  const entry = (role: string, action = 'read', allow = true) => ({ role, action, allow });
  /** Writes entries, of which some may not allow. */
  async function give(kind: 'series' | 'event', id: string, ...entries: ReturnType<typeof entry>[]) {
    await sql`INSERT INTO ${sql.table(`${kind}_acl`)} (${sql.ref(`${kind}_id`)}, position, role, action, allow)
      SELECT ${id}, row_number() OVER (), role, action, allow
      FROM jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) AS entry (role text, action text, allow boolean)`.execute(
      database,
    );
    if (kind === 'event') await ownAcl(database, id);
  }
  /** What writers of events do last. */
  const ownAcl = (db: Queryable, id: string) =>
    db.updateTable('events').set({ own_acl: true }).where('id', '=', id).execute();

  beforeAll(async () => {
    const [banned, reader] = [entry('ROLE_BANNED', 'read', false), entry('ROLE_READER')];
    await database.insertInto('series').values({ id: 'course' }).execute();
    for (const id of ['own', 'bare']) await insertEvent(database, { id });
    for (const id of ['inherits', 'overrides']) await insertEvent(database, { id, series_id: 'course' });
    await insertEvent(database, { id: 'lost', series_id: 'gone' });
    const lecturer = [entry('ROLE_LECTURER', 'write'), entry('ROLE_LECTURER')];
    await give('series', 'course', entry('ROLE_STUDENT'), ...lecturer, banned);
    const writers = [entry('ROLE_WRITER', 'write'), entry('ROLE_WRITER'), entry('ROLE_WRITE_ONLY', 'write')];
    await give('event', 'own', reader, ...writers, banned);
    await give('event', 'overrides', reader);
  });

  const CASES: [string[], Action, string[]][] = [
    [['ROLE_ADMIN'], 'write', ['bare', 'inherits', 'lost', 'overrides', 'own']],
    [['ROLE_READER'], 'read', ['overrides', 'own']],
    [['ROLE_READER'], 'write', []],
    [['ROLE_WRITER', 'ROLE_STUDENT'], 'read', ['inherits', 'own']],
    [['ROLE_WRITER', 'ROLE_LECTURER'], 'write', ['inherits', 'own']],
    [['ROLE_STUDENT'], 'read', ['inherits']],
    [['ROLE_BANNED'], 'read', []],
    [["ROLE_READER' OR true --", '{ROLE_READER}', 'ROLE_READER,ROLE_WRITER'], 'read', []],
    [[], 'read', []],
  ];

  test.each(CASES)('%j to %s', async (roles, action, expected) => {
    expect(await eventsOf(roles, action)).toEqual(expected);
  });

  async function accessible(kind: 'events' | 'series', roles: string[], action: Action): Promise<string[]> {
    const granted = mayAccess(kind, withRoles(...roles), action);
    const rows = await database.selectFrom(kind).select('id').where(granted).orderBy('id').execute();
    return rows.map(({ id }) => id);
  }
  const eventsOf = (roles: string[], action: Action = 'read') => accessible('events', roles, action);

  test('a series is accessible by its own ACL', async () => {
    expect(await accessible('series', ['ROLE_STUDENT'], 'read')).toEqual(['course']);
    expect(await accessible('series', ['ROLE_STUDENT'], 'write')).toEqual([]);
    expect(await accessible('series', ['ROLE_BANNED'], 'read')).toEqual([]);
  });

  test.each([
    ['ROLE_READER', 'read', 'events', 'own', undefined],
    ['ROLE_READER', 'write', 'events', 'own', [401, 'unauthorized']],
    ['ROLE_WRITER', 'write', 'events', 'own', undefined],
    ['ROLE_WRITE_ONLY', 'write', 'events', 'own', [404, "'own' is missing"]],
    ['ROLE_OTHER', 'read', 'events', 'own', [404, "'own' is missing"]],
    // One that does not exist is answered like one that may not be read.
    ['ROLE_ADMIN', 'read', 'events', 'none', [404, "'none' is missing"]],
    ['ROLE_STUDENT', 'write', 'series', 'course', [401, 'unauthorized']],
  ] as const)(
    '%s is granted or refused the right to %s %s with the identifier %s',
    async (role, action, kind, id, refusal) => {
      const attempt = requireAccess(database, kind, withRoles(role), id, action, missing);
      if (!refusal) return expect(attempt).resolves.toBeUndefined();
      await expect(attempt).rejects.toMatchObject({ status: refusal[0], message: refusal[1] });
    },
  );

  test('an event takes on the ACL of its series, and drops it for one of its own', async () => {
    await database.insertInto('series').values({ id: 'moving' }).execute();
    await insertEvent(database, { id: 'guest', series_id: 'moving' });
    await change((trx) => replaceAcl(trx, 'series', 'moving', [entry('ROLE_M1'), entry('ROLE_M2')]));
    expect(await eventsOf(['ROLE_M1'])).toEqual(['guest']);
    await change((trx) => replaceAcl(trx, 'series', 'moving', [entry('ROLE_M2')]));
    expect(await eventsOf(['ROLE_M1'])).toEqual([]);
    await change(async (trx) => {
      await replaceAcl(trx, 'events', 'guest', [entry('ROLE_M3')]);
      await ownAcl(trx, 'guest');
    });
    expect(await eventsOf(['ROLE_M2'])).toEqual([]);
    expect(await eventsOf(['ROLE_M3'])).toEqual(['guest']);
    expect((await aclsOf(database, 'events', ['guest'])).get('guest')).toEqual([entry('ROLE_M3')]);
    await change(async (trx) => {
      await replaceAcl(trx, 'events', 'guest', []);
      await ownAcl(trx, 'guest');
    });
    expect(await eventsOf(['ROLE_M2'])).toEqual([]);
  });

  test('an event that moves to another series, or loses its own, has other readers', async () => {
    for (const id of ['left', 'right']) {
      await database.insertInto('series').values({ id }).execute();
      await change((trx) => replaceAcl(trx, 'series', id, [entry(`ROLE_${id.toUpperCase()}`)]));
    }
    await insertEvent(database, { id: 'mover', series_id: 'left' });
    await database.updateTable('events').set({ series_id: 'right' }).where('id', '=', 'mover').execute();
    expect(await eventsOf(['ROLE_LEFT'])).toEqual([]);
    expect(await eventsOf(['ROLE_RIGHT'])).toEqual(['mover']);
    await database.deleteFrom('series').where('id', '=', 'right').execute();
    expect(await eventsOf(['ROLE_RIGHT'])).toEqual([]);
  });

  test('an event that joins a series while its ACL changes does not keep the old one', async () => {
    await database.insertInto('series').values({ id: 'race' }).execute();
    await change((trx) => replaceAcl(trx, 'series', 'race', [entry('ROLE_OLD')]));
    let joined: Promise<unknown> = Promise.resolve();
    await change(async (trx) => {
      await replaceAcl(trx, 'series', 'race', [entry('ROLE_NEW')]);
      joined = insertEvent(database, { id: 'late', series_id: 'race' });
      await expectWaiting();
    });
    await joined;
    expect(await eventsOf(['ROLE_OLD'])).toEqual([]);
    expect(await eventsOf(['ROLE_NEW'])).toEqual(['late']);
  });
});

describe('sessions', () => {
  const store = storeOf();

  /** As another process has it, whose administrator has this password. */
  function storeOf(password?: string) {
    return new SessionStore({ database, directory: directoryOf(password) });
  }

  let accounts = 0;
  const known = async (username: string) => (await directoryOf().find(username)) as KnownAccount;
  async function signedUp(): Promise<KnownAccount> {
    accounts += 1;
    const username = `user-${accounts}`;
    await addAccount(database, { username, password_hash: 'x', name: '', email: '', roles: ['ROLE_X'] });
    return known(username);
  }

  /** A session of a new account. */
  async function begin() {
    const who = await signedUp();
    return { who, cookie: await store.open(who) };
  }
  const sessionsOf = async ({ principal }: KnownAccount) =>
    database.selectFrom('sessions').select('digest').where('username', '=', principal.username).execute();

  /** Lets time go by for all sessions of an account. */
  async function pass(minutes: number, { principal }: KnownAccount): Promise<void> {
    const gone = sql`make_interval(mins => ${minutes}::int)`;
    await sql`UPDATE sessions SET renew_at = renew_at - ${gone}, expires_at = expires_at - ${gone},
      ends_at = ends_at - ${gone} WHERE username = ${principal.username}`.execute(database);
  }

  const isGood = async (cookie: string) => (await store.find(cookie, false)) !== undefined;

  const renew = async (cookie: string) => (await store.find(cookie, true))?.renewed;

  test('a session is who signed in, with the roles of now, in every process', async () => {
    const { who: ada, cookie } = await begin();
    expect((await store.find(cookie, true))?.account.principal.username).toBe(ada.principal.username);
    await updateAccount(database, ada.principal.username, { roles: ['ROLE_NEW'] });
    const found = await storeOf().find(cookie, true);
    expect(found?.account.principal.hasRole('ROLE_NEW')).toBe(true);
    expect(found?.account.principal.hasRole('ROLE_X')).toBe(false);
    for (const other of ['', 'x', `${cookie}x`, cookie.slice(1)]) expect(await isGood(other)).toBe(false);
  });

  test('whoever reads the database cannot make a cookie of it, nor try passwords', async () => {
    const cookie = await store.open(await known('admin'));
    expect(Buffer.from(cookie, 'base64url')).toHaveLength(32);
    const { rows } = await sql<{ digest: Buffer; row: string }>`
      SELECT digest, sessions::text AS row FROM sessions WHERE username = 'admin'`.execute(database);
    expect(rows[0]?.digest).toEqual(createHash('sha256').update(cookie).digest());
    expect(rows[0]?.row).not.toContain(cookie);
    for (const fast of ['sha256', 'sha1', 'md5']) {
      expect(rows[0]?.row).not.toContain(createHash(fast).update('opencast').digest('hex'));
    }
  });

  test('a session ends with the password, the account, and the configured password', async () => {
    const [changed, removed] = [await signedUp(), await signedUp()];
    const cookies = [await store.open(changed), await store.open(removed)];
    await updateAccount(database, changed.principal.username, { password_hash: 'y' });
    await removeAccount(database, removed.principal.username);
    for (const cookie of cookies) expect(await isGood(cookie)).toBe(false);
    await updateAccount(database, changed.principal.username, { password_hash: 'x' });
    expect(await isGood(cookies[0] ?? '')).toBe(false);

    const cookie = await store.open(await known('admin'));
    expect(await isGood(cookie)).toBe(true);
    expect(await storeOf('another').find(cookie, true)).toBeUndefined();
  });

  test('it ends after two hours without a request', async () => {
    const { who, cookie } = await begin();
    for (const minutes of [119, 119, 121]) {
      await pass(minutes, who);
      expect([minutes, await isGood(cookie)]).toEqual([minutes, minutes < 120]);
    }
  });

  test.each([false, true])('it ends after a day with requests, renewed: %j', async (renews) => {
    const begun = await begin();
    let { cookie } = begun;
    for (let hours = 1; hours <= 24; hours += 1) {
      await pass(60, begun.who);
      if (renews && hours < 24) cookie = (await renew(cookie)) ?? '';
      expect([hours, await isGood(cookie)]).toEqual([hours, hours < 24]);
    }
  });

  test('the cookie is replaced every quarter of an hour, once for many requests, and the former one ends', async () => {
    const { who: ada, cookie: first } = await begin();
    await pass(14, ada);
    expect(await renew(first)).toBeUndefined();
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

  test.each([2, 30])(
    'a new cookie that never arrived signs nobody out: asked again after %i minutes',
    async (later) => {
      // Of the two new ones, the one that arrives last stays good, whichever it is.
      for (const last of [0, 1]) {
        const { who: ada, cookie: first } = await begin();
        const renewed: string[] = [];
        for (const minutes of [16, later]) {
          await pass(minutes, ada);
          renewed.push((await renew(first)) ?? '');
        }
        expect(await isGood(renewed[1 - last] ?? '')).toBe(true);
        await pass(2, ada);
        expect(await isGood(renewed[last] ?? '')).toBe(true);
      }
    },
  );

  test('signing out ends every cookie of the session, and no other session', async () => {
    const ada = await signedUp();
    const [first, elsewhere] = [await store.open(ada), await store.open(ada)];
    await pass(16, ada);
    const second = (await renew(first)) ?? '';
    await store.end(second);
    const good = await Promise.all([first, second, elsewhere].map(isGood));
    expect(good).toEqual([false, false, true]);
  });

  test('signing out ends a cookie that is on its way from a renewal at the same time', async () => {
    const { who: ada, cookie } = await begin();
    let ending: Promise<void> | undefined;
    // As a renewal does it, but slowly.
    await database.transaction().execute(async (trx) => {
      await sql`UPDATE sessions SET renew_at = now() WHERE username = ${ada.principal.username}`.execute(trx);
      ending = store.end(cookie);
      await expectWaiting('DELETE FROM sessions');
      await sql`INSERT INTO sessions (digest, sign_in, username, seal, renew_at, expires_at, ends_at)
        SELECT sha256(digest), sign_in, username, seal, renew_at, expires_at, ends_at FROM sessions
        WHERE username = ${ada.principal.username}`.execute(trx);
    });
    await ending;
    expect(await sessionsOf(ada)).toEqual([]);
  });

  test('what has expired is swept, and nothing else', async () => {
    const [gone, here] = [await signedUp(), await signedUp()];
    await store.open(gone);
    const cookie = await store.open(here);
    await pass(121, gone);
    expect(await sweepSessions(database)).toBeGreaterThanOrEqual(1);
    expect(await sessionsOf(gone)).toEqual([]);
    expect(await isGood(cookie)).toBe(true);
  });
});

describe('passwords', () => {
  let now = 0;
  const clock = () => now;

  test('accounts and the administrator get in with their password only', async () => {
    await account('ada', 'secret');
    // An account cannot take the administrator’s name.
    await account('admin', 'taken');
    const authenticator = new Authenticator(directoryOf());
    const ada = await authenticator.authenticate('ada', 'secret', 'a');
    expect(ada).toMatchObject({ username: 'ada', name: 'Ada L.', email: 'ada@example.org' });
    expect([ada?.hasRole('ROLE_X'), ada?.isAdmin()]).toEqual([true, false]);
    expect((await authenticator.authenticate('admin', 'opencast', 'a'))?.isAdmin()).toBe(true);
    for (const wrong of ['ada:Secret', 'ada:', 'Ada:secret', 'admin:taken', 'nobody:opencast']) {
      const [username = '', password = ''] = wrong.split(':');
      expect([wrong, await authenticator.authenticate(username, password, 'a')]).toEqual([wrong, undefined]);
    }
  });

  test('known credentials are not looked up again within a minute, and once for many requests after it', async () => {
    await account('busy', 'secret');
    const built = directoryOf();
    const find = vi.spyOn(built, 'find');
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
    const authenticator = new Authenticator(directoryOf(), clock);
    const ask = (password: string) => authenticator.authenticate('leaver', password, 'a');
    await ask('secret');
    await updateAccount(database, 'leaver', { roles: ['ROLE_NEW'] });
    now += 61_000;
    expect((await ask('secret'))?.hasRole('ROLE_NEW')).toBe(true);
    await updateAccount(database, 'leaver', { password_hash: await hashPassword('changed') });
    now += 61_000;
    expect(await ask('secret')).toBeUndefined();
    expect(await ask('changed')).toBeDefined();
    await removeAccount(database, 'leaver');
    now += 61_000;
    expect(await ask('changed')).toBeUndefined();
  });
});

const publicUrl = 'https://media.example';
/** What a program is offered. */
const CHALLENGES = /^Digest realm="Opencast", qop="auth", nonce="[\w-]+", algorithm=MD5, Basic realm="Opencast"$/;
let app: Hono;

beforeAll(async () => {
  await account('moodle', 'secret', ['ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS']);
  const others = { lovelace: 'ROLE_X', müller: 'ROLE_API', chief: 'ROLE_ADMIN', plain: 'ROLE_API' };
  for (const [username, role] of Object.entries(others)) await account(username, 'secret', [role]);
  const directory = directoryOf('secret');
  const nonces = new Nonces(nonceKeyReader(database));
  const digest = new DigestVerifier({ directory, nonces, publicUrl });
  const signIn = authenticate({ directory, authenticator: new Authenticator(directory), digest });
  const welcome = ['/api', '/api/version', '/api/version/default'].map((path) =>
    defineEndpoint({ method: 'get', path, access: 'public', handle: ({ c }) => c.text('welcome') }),
  );
  const dashboard = defineEndpoint({
    ...{ method: 'get', path: '/admin/queues', access: ADMINISTRATORS },
    handle: ({ c }) => c.text('dashboard'),
  });
  const info = [whoAmI, myRoles, organization, organizationProperties, engageUrl];
  const endpoints = [...welcome, ...info, dashboard];
  const guard = requireRole(new Rules(endpoints));
  const areas = [
    { path: '/api', guards: [signIn, guard, runAs(directory)] },
    { path: '/admin', guards: [signIn, guard] },
  ];
  app = endpointApp(endpoints, { config: { publicUrl } }, { areas });
});

async function ask(path: string, username?: string, headers: Record<string, string> = {}) {
  const Authorization = `Basic ${Buffer.from(`${username}:secret`).toString('base64')}`;
  const response = await app.request(path, { headers: username ? { Authorization, ...headers } : headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** Who the API says the caller is, or the status and sentence of the refusal. */
async function me(username: string, headers: Record<string, string>) {
  const who = await ask('/api/info/me', username, headers);
  if (who.status !== 200) return [who.status, who.text];
  const roles = await ask('/api/info/me/roles', username, headers);
  return { username: JSON.parse(who.text).username, roles: JSON.parse(roles.text) };
}

describe('signing in', () => {
  test('a request without credentials gets a challenge', async () => {
    const { status, headers, text } = await ask('/api/info/me');
    expect(status).toBe(401);
    expect(headers.get('WWW-Authenticate')).toMatch(CHALLENGES);
    expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/\.$/);
  });

  test.each([
    ['Basic bm9ib2R5OngK', /^Basic realm="Opencast"$/],
    ['Basic ???', /^Basic realm="Opencast"$/],
    ['Bearer token', CHALLENGES],
    ['', CHALLENGES],
  ])('the header %j gets a challenge, also where anonymous requests are welcome', async (Authorization, challenge) => {
    for (const path of ['/api', '/api/info/me', '/admin/queues']) {
      const { status, headers } = await ask(path, undefined, { Authorization });
      expect([path, status]).toEqual([path, 401]);
      expect(headers.get('WWW-Authenticate')).toMatch(challenge);
    }
  });

  test('the description of the API is open to everybody', async () => {
    for (const path of ['/api', '/api/', '/api/version', '/api/version/default']) {
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
    }
  });

  test.each([
    ['lovelace', '/api/info/me', /^This request requires the role ROLE_API\.$/],
    ...['/admin/queues', '/admin/unknown', '/%61dmin/queues'].map((path) => ['moodle', path, /./] as const),
  ] as const)('%s lacks the role for %s, which is 403 and not a challenge', async (username, path, sentence) => {
    const { status, headers, text } = await ask(path, username);
    expect([status, headers.get('WWW-Authenticate')]).toEqual([403, null]);
    expect(text).toMatch(sentence);
  });

  test('the dashboard is for administrators', async () => {
    expect((await ask('/admin/queues')).status).toBe(401);
    expect((await ask('/admin/queues', 'chief')).text).toBe('dashboard');
  });
});

describe('what the API says about the caller', () => {
  test('the administrator of the configuration', async () => {
    const { headers, text } = await ask('/api/info/me/', 'admin');
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(JSON.parse(text)).toEqual({
      ...{ provider: 'inlet', name: 'Administrator', userrole: 'ROLE_USER_ADMIN' },
      ...{ email: '', username: 'admin' },
    });
    const all = ['ROLE_ADMIN', 'ROLE_SUDO', 'ROLE_API', 'ROLE_API_EVENTS_CREATE', 'ROLE_USER_ADMIN'];
    const roles = JSON.parse((await ask('/api/info/me/roles', 'admin')).text);
    expect(roles).toEqual(expect.arrayContaining(all));
  });

  test('an account with a name beyond ASCII', async () => {
    expect(JSON.parse((await ask('/api/info/me', 'müller')).text)).toMatchObject({
      username: 'müller',
      userrole: 'ROLE_USER_m~FC~ller',
    });
  });

  test('its organization', async () => {
    expect(JSON.parse((await ask('/api/info/organization', 'moodle')).text)).toEqual({
      ...{ adminRole: 'ROLE_ADMIN', anonymousRole: 'ROLE_ANONYMOUS' },
      ...{ id: 'mh_default_org', name: 'Opencast Project' },
    });
    const properties = { 'org.opencastproject.engage.ui.url': publicUrl };
    for (const path of ['properties', 'properties/engageuiurl']) {
      expect((await ask(`/api/info/organization/${path}`, 'moodle')).status).toBe(403);
      const { text } = await ask(`/api/info/organization/${path}`, 'chief');
      expect(JSON.parse(text)).toEqual(properties);
    }
  });
});

describe('acting as somebody else', () => {
  const own = ['ROLE_X', 'ROLE_USER', 'ROLE_USER_LOVELACE', 'ROLE_ANONYMOUS'];
  const ADA = { username: 'lovelace', roles: own };
  const [AS, ROLES, OPENCAST] = ['X-RUN-AS-USER', 'X-RUN-WITH-ROLES', 'X-Opencast-Matterhorn'] as const;
  const ORGANIZATION = `${OPENCAST}-Organization`;
  const roles = ['ROLE_A', 'Course_5'];

  test.each<[string, Record<string, string>, object]>([
    // The URL's role is asked of the account itself, then the other one's rights apply.
    ['moodle', { [AS]: 'lovelace' }, ADA],
    ['moodle', { [`${OPENCAST}-User`]: '   lovelace   ' }, ADA],
    ['moodle', { [AS]: 'anonymous' }, { username: 'anonymous', roles: ['ROLE_ANONYMOUS'] }],
    // User names beyond ASCII arrive as UTF-8.
    ['moodle', { [AS]: Buffer.from('müller').toString('latin1') }, { username: 'müller' }],
    ['moodle', { [ROLES]: ' ROLE_A,, Course_5 ' }, { username: 'anonymous', roles }],
    ['moodle', { [`${OPENCAST}-Roles`]: ' ROLE_A,, Course_5 ' }, { username: 'anonymous', roles }],
    ['moodle', { [ROLES]: 'ROLE_A, Course_5', [AS]: 'lovelace' }, { username: 'lovelace', roles }],
    ['moodle', { [`${OPENCAST}-Roles`]: 'ROLE_A, Course_5', [AS]: 'lovelace' }, { ...ADA, roles }],
    // An empty list of roles leaves none, an empty user name changes nothing.
    ['moodle', { [ROLES]: '' }, { username: 'anonymous', roles: [] }],
    ['moodle', { [AS]: ' ' }, { username: 'moodle' }],
    // Administrators may take any roles and name the organization there is.
    ['chief', { [AS]: 'admin' }, { username: 'admin' }],
    ['admin', { [ROLES]: 'ROLE_ADMIN', [ORGANIZATION]: 'mh_default_org' }, { roles: ['ROLE_ADMIN'] }],
  ])('%s may ask for %j and is %j', async (username, headers, expected) => {
    expect(await me(username, headers)).toEqual(expect.objectContaining(expected));
  });

  test('an unknown user is 412', async () => {
    expect(await me('moodle', { [AS]: 'nobody' })).toEqual([412, 'The user to act as does not exist.']);
  });

  test.each<[string, Record<string, string>]>([
    ...['lovelace', 'nobody', 'plain'].map((other): [string, object] => ['plain', { [AS]: other }]),
    ['plain', { [ROLES]: 'ROLE_A' }],
    ...['admin', 'chief', 'moodle'].map((other): [string, object] => ['moodle', { [AS]: other }]),
    ['moodle', { [AS]: 'admin', [ROLES]: 'ROLE_A' }],
    ['moodle', { [ROLES]: 'ROLE_A, ROLE_ADMIN' }],
    ['moodle', { [ROLES]: 'ROLE_SUDO' }],
    ['moodle', { [ORGANIZATION]: 'mh_default_org' }],
    ['chief', { [ORGANIZATION]: 'other' }],
  ] as [string, Record<string, string>][])('%s may not ask for %j', async (username, headers) => {
    expect(await me(username, headers)).toMatchObject([403, expect.any(String)]);
  });

  test('other roles do not open other URLs', async () => {
    const properties = '/api/info/organization/properties';
    expect((await ask(properties, 'moodle', { [ROLES]: 'ROLE_ADMIN' })).status).toBe(403);
    expect((await ask('/api', undefined, { [AS]: 'lovelace' })).status).toBe(403);
  });
});
