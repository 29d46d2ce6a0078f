import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { hashPassword } from '#access/accounts/secrets.ts';
import { createApp } from '#app/app.ts';
import { createContext } from '#app/context.ts';
import { createDatabase } from '#platform/database/kysely.ts';
import { createPool } from '#platform/database/pool.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { ADMIN, createTestApp, ownApp, workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { eventFields, form } from '../support/form.ts';
import { AUDIENCE, ISSUER, serveKeys, signingKey } from '../support/identity-provider.ts';
import { patientQueue } from '../support/patient-queue.ts';
import { insertEvent } from '../support/publication.ts';
import { ace } from '../support/series.ts';

/** As a browser asks for a page. */
const PAGE = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Sec-Fetch-Site': 'none' };
const OWN = { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://inlet.test' };

const app = await workerApp();
patientQueue(app);
const student = `student-${randomUUID()}`;
await app.account(student, 'ROLE_API', 'ROLE_API_EVENTS_VIEW');

/** Sends the form. @returns the answer, and the cookie as a browser sends it back */
async function signIn(fields: Record<string, string>, headers: Record<string, string> = {}, on = app) {
  const answer = await on.anonymous('/sign-in', {
    method: 'POST',
    headers: { ...PAGE, ...OWN, ...headers },
    body: new URLSearchParams(fields),
  });
  const set = answer.headers.get('Set-Cookie') ?? '';
  return { answer, set, cookie: set.split(';', 1)[0] ?? '', text: await answer.text() };
}

const asAdmin = { username: 'admin', password: 'opencast' };
const asStudent = { username: student, password: 'secret' };
const status = async (path: string, headers: Record<string, string>, method = 'GET') =>
  (await app.anonymous(path, { method, headers })).status;
/** Where an answer to a request of this path leads. */
const target = (answer: Response, path: string) =>
  new URL(answer.headers.get('Location') ?? '', `http://localhost${path}`);

describe('who is not signed in', () => {
  test.each(['/admin', '/admin/', '/admin/queues', '/admin/queues/queue/light?page=2', '/admin/nowhere'])(
    'and opens %s in a browser is led to the page for that',
    async (path) => {
      const answer = await app.anonymous(path, { headers: PAGE });
      expect([answer.status, answer.headers.has('WWW-Authenticate')]).toEqual([303, false]);
      const { host, pathname, searchParams } = target(answer, path);
      expect([host, pathname, searchParams.get('next')]).toEqual(['localhost', '/sign-in', path]);
    },
  );

  test('and is a program gets 401 and the challenge, with which it signs in', async () => {
    for (const Accept of ['*/*', 'application/json']) {
      const answer = await app.anonymous('/admin/queues/api/queues', { headers: { Accept } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic realm="Opencast"$/);
    }
    expect(await status('/admin/queues', { Authorization: ADMIN })).toBe(200);
    expect(await status('/admin/queues', { ...PAGE, Authorization: ADMIN })).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['/admin/queues/api/queues', { 'Sec-Fetch-Site': 'same-origin' }],
    ['/admin/queues/api/queues', { Cookie: 'inlet=over' }],
    ['/api/events', { Cookie: 'inlet=over', 'Sec-Fetch-Site': 'same-origin' }],
    ['/api/events', { 'X-Requested-With': 'XMLHttpRequest' }],
  ])('and is a script of a page is not asked for a password by the browser: %s with %j', async (path, headers) => {
    const answer = await app.anonymous(path, { headers });
    expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, null]);
  });

  test('and is a program that asks for Digest is asked by it, whatever sends its requests', async () => {
    const headers = { 'X-Requested-With': 'XMLHttpRequest', 'X-Requested-Auth': 'Digest' };
    for (const path of ['/ingest/createMediaPackage', '/api/events']) {
      const answer = await app.anonymous(path, { headers });
      expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([
        ...[401, expect.stringMatching(/^Digest realm/)],
      ]);
    }
  });
});

describe('signing in', () => {
  test('leads on, with a cookie that no script and no other site gets at', async () => {
    const { answer, set } = await signIn({ ...asAdmin, next: '/admin/queues/' });
    expect(answer.status).toBe(303);
    expect(target(answer, '/sign-in').href).toBe('http://localhost/admin/queues/');
    expect(set).toMatch(/^inlet=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  test('under https binds the cookie to this host', async () => {
    const secure = await createTestApp(undefined, { PUBLIC_URL: 'https://media.example.org' });
    onTestFinished(() => secure.close());
    const own = { Origin: 'https://media.example.org' };
    const { set, cookie } = await signIn(asAdmin, own, secure);
    expect(set).toMatch(/^__Host-inlet=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    for (const [Cookie, expected] of [
      [cookie, 200],
      [cookie.replace('__Host-', ''), 401],
    ] as const) {
      expect((await secure.anonymous('/admin', { headers: { Cookie } })).status).toBe(expected);
    }
  });

  test('never leads to another site', async () => {
    const next = '//evil.example';
    const { answer } = await signIn({ ...asAdmin, next });
    expect(target(answer, '/sign-in').href).toBe('http://localhost/admin');
    const page = await app.anonymous(`/sign-in?next=${encodeURIComponent(next)}`, { headers: PAGE });
    expect(await page.text()).toContain('name="next" value="/admin"');
  });

  test('an unknown name and a wrong password get the same answer', async () => {
    const wrong = await signIn({ username: student, password: 'wrong', next: '/admin' });
    const unknown = await signIn({ username: 'nobody', password: 'wrong', next: '/admin' });
    expect(unknown.text.replaceAll('nobody', student)).toBe(wrong.text);
    expect(wrong.text).toContain('<p role="alert">User name or password is wrong.</p>');
    for (const { answer, set } of [wrong, unknown]) {
      expect([answer.status, set, answer.headers.get('WWW-Authenticate')]).toEqual([401, '', null]);
    }
  });

  test('shows a name as it was typed, and nothing of it as HTML', async () => {
    const { text } = await signIn({ username: '"><script>alert(1)</script>', password: 'x\0' });
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
  });

  test('is throttled as everywhere, and says so', async () => {
    for (let i = 0; i < 20; i += 1) await signIn({ username: 'guessed', password: `${i}` });
    const { answer, text } = await signIn({ username: 'guessed', password: 'x' });
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(text).toContain('Too many wrong passwords; try again later.');
  });

  test('with a former password does not work, not even within the minute in which it is remembered', async () => {
    const username = `changing-${randomUUID()}`;
    const Authorization = await app.account(username, 'ROLE_API');
    expect(await status('/api/info/me', { Authorization })).toBe(200);
    const password_hash = await hashPassword('new');
    const change = app.database.updateTable('accounts').set({ password_hash });
    await change.where('username', '=', username).execute();
    expect((await signIn({ username, password: 'secret' })).answer.status).toBe(401);
    expect((await signIn({ username, password: 'new' })).answer.status).toBe(303);
  });

  test('again ends the session that was', async () => {
    const first = await signIn(asStudent);
    const second = await signIn(asAdmin, { Cookie: first.cookie });
    expect(await status('/api/info/me', { Cookie: first.cookie })).toBe(401);
    expect(await status('/api/info/me', { Cookie: second.cookie })).toBe(200);
  });

  test('needs both fields', async () => {
    const { answer, text } = await signIn({ username: 'admin' });
    expect(answer.status).toBe(400);
    expect(text).toContain('Missing form parameter &#39;password&#39;');
  });
});

describe('a session', () => {
  test('opens the operator’s pages and the API, for what the account may', async () => {
    const admin = (await signIn(asAdmin)).cookie;
    const viewer = (await signIn(asStudent)).cookie;
    for (const [path, forAdmin, forStudent] of [
      ['/admin', 200, 403],
      ['/admin/queues', 200, 403],
      ['/admin/queues/api/queues', 200, 403],
      ['/api/events', 200, 200],
      ['/api/agents', 200, 403],
    ] as const) {
      expect([path, await status(path, { Cookie: admin })]).toEqual([path, forAdmin]);
      expect([path, await status(path, { Cookie: viewer })]).toEqual([path, forStudent]);
    }
    const home = await app.anonymous('/admin', { headers: { ...PAGE, Cookie: admin } });
    expect(await home.text()).toMatch(
      /Signed in as <strong>admin<\/strong>[\s\S]*<button class="quiet">Sign out<\/button>/,
    );
  });

  test('changes things for our own pages, and for no other’s', async () => {
    const Cookie = (await signIn(asAdmin)).cookie;
    const metadata = '[{"flavor":"dublincore/series","fields":[{"id":"title","value":"x"}]}]';
    const create = async (headers: Record<string, string>) => {
      const body = new URLSearchParams({ metadata, acl: '[]' });
      const init = { method: 'POST', headers: { Cookie, ...headers }, body };
      return (await app.anonymous('/api/series', init)).status;
    };
    expect(await create(OWN)).toBe(201);
    expect(await create({ Origin: 'http://localhost:81' })).toBe(403);
  });

  test('is good where SECURITY.md says, and nowhere else', async () => {
    const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8');
    const [, named = ''] = /A session is valid for these paths:\s(.*?)\.$/ms.exec(text) ?? [];
    const { cookie } = await signIn(asAdmin);
    const folders = new Set(
      app.routes.map(({ path }) => `/${path.split('/')[1]}`).filter((path) => !/[*:]/.test(path)),
    );
    const good: string[] = [];
    for (const folder of folders) {
      const nowhere = `${folder}/no/where/at/all`;
      if ((await status(nowhere, {})) !== 401) continue;
      if ((await status(nowhere, { Cookie: cookie })) !== 401) good.push(folder);
    }
    expect(good.sort()).toEqual([...named.matchAll(/`(.*?)`/g)].map(([, path]) => path).sort());
  });

  test('of an account that may not gives a page with a way out', async () => {
    const Cookie = (await signIn(asStudent)).cookie;
    const answer = await app.anonymous('/admin/queues', { headers: { ...PAGE, Cookie } });
    const text = await answer.text();
    expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([403, 'no-store']);
    expect(text).toContain('This request requires an administrator.');
    expect(text).toMatch(/<form method="post" action="..\/sign-out">[\s\S]*<strong>student-/);
  });

  test('ends with the button, for every process', async () => {
    const { cookie } = await signIn(asAdmin);
    expect(await status('/sign-out', { ...PAGE, Cookie: cookie })).toBe(405);
    const answer = await app.anonymous('/sign-out', { method: 'POST', headers: { Cookie: cookie, ...OWN } });
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, './sign-in']);
    expect(answer.headers.get('Set-Cookie')).toMatch(/^inlet=; Max-Age=0; Path=\//);
    expect(await status('/admin', { Cookie: cookie })).toBe(401);
  });

  test('gets a new cookie with an answer', async () => {
    const { cookie } = await signIn(asStudent);
    await app.database.updateTable('sessions').set({ renew_at: new Date() }).execute();
    const answer = await app.anonymous('/api/events', { headers: { Cookie: cookie } });
    const renewed = answer.headers.get('Set-Cookie')?.split(';', 1)[0] ?? '';
    expect(renewed).toMatch(/^inlet=[\w-]{43}$/);
    expect(renewed).not.toBe(cookie);
    expect(await status('/api/events', { Cookie: renewed })).toBe(200);
  });
});

test('while the database is away, people get a page that says so and no way round in a circle', async () => {
  const options = { max: 1, applicationName: 'away', onError: () => undefined };
  const pool = createPool('postgres://nobody@127.0.0.1:1/none', options);
  const database = createDatabase(pool);
  const { config, queue, storage } = app.context;
  const context = await createContext(config, 'api', { log: silentLogger, database, queue, storage });
  const away = createApp(context);
  for (const [path, init] of [
    ['/admin', { headers: { ...PAGE, Cookie: 'inlet=x' } }],
    ['/sign-in', { method: 'POST', headers: { ...PAGE, ...OWN }, body: new URLSearchParams(asAdmin) }],
  ] as const) {
    const answer = await away.request(path, init);
    expect([path, answer.status, answer.headers.get('Retry-After')]).toEqual([path, 503, '5']);
    expect(answer.headers.get('Content-Type')).toBe('text/html; charset=UTF-8');
    expect(await answer.text()).toContain('The database does not answer.');
  }
  // Nothing is looked up for it.
  expect((await away.request('/sign-in', { headers: PAGE })).status).toBe(200);
  await pool.end();
});

describe('a token of an identity provider', async () => {
  const key = await signingKey('RS256');
  const server = await serveKeys(key.publicJwk);
  afterAll(() => server.close());
  const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_ROLES_CLAIM: 'realm_access.roles' };
  const tokens = await ownApp(undefined, { ...JWT, JWT_JWKS: server.url });
  const granted = (...roles: string[]) => ({ realm_access: { roles } });
  const VIEW = 'ROLE_API_EVENTS_VIEW';

  async function ask(token: string, path: string, init: RequestInit = {}, on = tokens) {
    const headers = { ...init.headers, Authorization: `Bearer ${token}` };
    const answer = await on.request(path, { ...init, headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
  /** An event that may be read with this role alone. */
  async function eventFor(role: string): Promise<string> {
    const id = await insertEvent(tokens.database);
    await giveAcl(tokens, id, [ace(role)]);
    return `/api/events/${id}`;
  }
  const statuses = async (path: string, ...of: string[]) => {
    const answers = await Promise.all(of.map((token) => ask(token, path)));
    return answers.map(({ status }) => status);
  };

  test('signs in somebody known to the identity provider', async () => {
    const sub = 'g.hopper';
    const token = await key.sign({ ...granted('ROLE_API', 'ROLE_X'), sub, name: 'Grace Hopper' });
    expect(JSON.parse((await ask(token, '/api/info/me')).text)).toEqual({
      ...{ provider: 'jwt', name: 'Grace Hopper', userrole: 'ROLE_USER_g~2E~hopper', email: '' },
      username: sub,
    });
    expect(JSON.parse((await ask(token, '/api/info/me/roles')).text)).toEqual([
      ...['ROLE_API', 'ROLE_X', 'ROLE_USER', 'ROLE_USER_g~2E~hopper', 'ROLE_ANONYMOUS'],
    ]);
    expect(await ask(token, '/api/events')).toMatchObject({
      ...{ status: 403, text: 'This request requires the role ROLE_API_EVENTS_VIEW.' },
    });
    expect(await statuses('/admin/queues', token)).toEqual([403]);
  });

  test('decides by its roles which events it sees', async () => {
    const path = await eventFor('ROLE_COURSE');
    const reader = await key.sign(granted(VIEW, 'ROLE_COURSE'));
    expect(await statuses(path, reader, await key.sign(granted(VIEW)))).toEqual([200, 404]);
  });

  test('makes events in the name of its user', async () => {
    const token = await key.sign({ ...granted('ROLE_API_EVENTS_CREATE'), name: 'Grace Hopper' });
    const { type, body } = form(eventFields());
    const init = { method: 'POST', headers: { 'Content-Type': type }, body };
    const { status, text } = await ask(token, '/api/events', init);
    expect([status, text]).toEqual([201, expect.any(String)]);
    const event = tokens.database.selectFrom('events').select('creator');
    const { identifier } = JSON.parse(text) as { identifier: string };
    expect(await event.where('id', '=', identifier).execute()).toEqual([{ creator: 'Grace Hopper' }]);
  });

  test('that is no good is refused with the challenge of its scheme, also where anybody may ask', async () => {
    for (const token of [await key.sign({ aud: 'wiki' }), 'x', '']) {
      for (const path of ['/api', '/api/info/me', '/admin/queues']) {
        const { status, headers, text } = await ask(token, path);
        expect([path, status, headers.get('Content-Type')]).toEqual([path, 401, 'text/plain; charset=utf-8']);
        expect(headers.get('WWW-Authenticate')).toBe('Bearer realm="Opencast", error="invalid_token"');
        expect(text).toMatch(/^The .*\.$/);
      }
    }
  });

  test('cannot pass for an account', async () => {
    for (const username of ['ada.l', 'ada_b']) await tokens.account(username);
    for (const sub of ['admin', 'ADMIN', 'ada.l', 'ada_b', 'ADA_B']) {
      const { status, text } = await ask(await key.sign({ ...granted('ROLE_API'), sub }), '/api/info/me');
      expect([sub, status, text]).toEqual([...[sub, 401, 'The user name in the token belongs to a local account.']]);
    }
  });

  test('of two names that differ in case alone has the role for the first to come', async () => {
    const first = await key.sign({ ...granted('ROLE_API'), sub: 'Anna' });
    const second = await key.sign({ ...granted('ROLE_API'), sub: 'anna' });
    expect(JSON.parse((await ask(first, '/api/info/me')).text)).toMatchObject({ userrole: 'ROLE_USER_ANNA' });
    expect(await ask(second, '/api/info/me')).toMatchObject({
      status: 401,
      text: 'The user name in the token differs only in case from that of another user.',
    });
    expect(await statuses('/api/info/me', first)).toEqual([200]);
  });

  test('lets act as an account with ROLE_SUDO, as a password does, and nobody acts as its user', async () => {
    await tokens.account('target', 'ROLE_API');
    const token = await key.sign(granted('ROLE_API', 'ROLE_SUDO'));
    const as = (username: string) => ({ headers: { 'X-RUN-AS-USER': username } });
    const { text } = await ask(token, '/api/info/me', as('target'));
    expect(JSON.parse(text)).toMatchObject({ username: 'target' });
    expect((await ask(token, '/api/info/me', as('admin'))).status).toBe(403);
    // Only a token says which roles a user of the identity provider has.
    expect((await tokens.request('/api/info/me', as('grace'))).status).toBe(412);
  });

  test('waits while the identity provider is down if it is unknown, and passwords work', async () => {
    const down = await serveKeys();
    await down.close();
    const lonely = await createTestApp(undefined, { ...JWT, JWT_JWKS: down.url });
    onTestFinished(() => lonely.close());
    const token = await key.sign(granted('ROLE_API'));
    const { status, text, headers } = await ask(token, '/api/info/me', {}, lonely);
    expect([status, text, headers.get('Retry-After')]).toEqual([
      ...[503, 'The token cannot be verified now. Try again later.', '10'],
    ]);
    expect((await lonely.request('/api/info/me')).status).toBe(200);
  });
});
