import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword } from '../../src/access/accounts/password.ts';
import { createApp } from '../../src/app.ts';
import { createContext } from '../../src/context.ts';
import { createDatabase } from '../../src/database/kysely.ts';
import { createPool } from '../../src/database/pool.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { ADMIN, createTestApp, type TestApp } from '../support/app.ts';
import { patientQueue } from '../support/patient-queue.ts';

/** As a browser asks for a page. */
const PAGE = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Sec-Fetch-Site': 'none' };
const OWN = { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://inlet.test' };

let app: TestApp;
let secure: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  patientQueue(app);
  secure = await createTestApp(undefined, { PUBLIC_URL: 'https://media.example.org' });
  await app.account('student', 'ROLE_API', 'ROLE_API_EVENTS_VIEW');
});
afterAll(async () => {
  await app?.close();
  await secure?.close();
});

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
const asStudent = { username: 'student', password: 'secret' };
const status = async (path: string, headers: Record<string, string>, method = 'GET') =>
  (await app.anonymous(path, { method, headers })).status;

describe('who is not signed in', () => {
  test.each(['/admin', '/admin/', '/admin/queues', '/admin/queues/queue/light?page=2', '/admin/nowhere'])(
    'and opens %s in a browser is led to the page for that',
    async (path) => {
      const answer = await app.anonymous(path, { headers: PAGE });
      expect(answer.status).toBe(303);
      expect(answer.headers.has('WWW-Authenticate')).toBe(false);
      const target = new URL(answer.headers.get('Location') ?? '', `http://localhost${path}`);
      expect([target.host, target.pathname, target.searchParams.get('next')]).toEqual([
        'localhost',
        '/sign-in',
        path,
      ]);
    },
  );

  test('and is a program gets 401 and the challenge, with which it signs in', async () => {
    for (const Accept of ['*/*', 'application/json']) {
      const answer = await app.anonymous('/admin/queues/api/queues', { headers: { Accept } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic realm="Opencast"$/);
    }
    expect((await app.request('/admin/queues')).status).toBe(200);
    expect(await status('/admin/queues', { ...PAGE, Authorization: ADMIN })).toBe(200);
  });

  test('and is a script of a page whose session is over is not asked for a password by the browser', async () => {
    for (const [path, headers] of [
      ['/admin/queues/api/queues', { 'Sec-Fetch-Site': 'same-origin' }],
      ['/admin/queues/api/queues', { Cookie: 'inlet=over' }],
      ['/api/events', { Cookie: 'inlet=over', 'Sec-Fetch-Site': 'same-origin' }],
      ['/api/events', { 'X-Requested-With': 'XMLHttpRequest' }],
    ] as [string, Record<string, string>][]) {
      const answer = await app.anonymous(path, { headers });
      expect([path, answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([path, 401, null]);
    }
  });

  test('and is a program that asks for Digest is asked by it, whatever sends its requests', async () => {
    const headers = { 'X-Requested-With': 'XMLHttpRequest', 'X-Requested-Auth': 'Digest' };
    const answer = await app.anonymous('/ingest/createMediaPackage', { headers });
    const events = await app.anonymous('/api/events', { headers });
    for (const { status, headers } of [answer, events]) {
      expect([status, headers.get('WWW-Authenticate')]).toEqual([
        401,
        expect.stringMatching(/^Digest realm/),
      ]);
    }
  });
});

describe('signing in', () => {
  test('leads on, with a cookie that no script and no other site gets at', async () => {
    const { answer, set } = await signIn({ ...asAdmin, next: '/admin/queues/' });
    expect(answer.status).toBe(303);
    expect(new URL(answer.headers.get('Location') ?? '', 'http://localhost/sign-in').href).toBe(
      'http://localhost/admin/queues/',
    );
    expect(set).toMatch(/^inlet=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  test('under https binds the cookie to this host', async () => {
    const own = { Origin: 'https://media.example.org' };
    const { set, cookie } = await signIn(asAdmin, own, secure);
    expect(set).toMatch(/^__Host-inlet=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    expect((await secure.anonymous('/admin', { headers: { Cookie: cookie } })).status).toBe(200);
    const plain = cookie.replace('__Host-', '');
    expect((await secure.anonymous('/admin', { headers: { Cookie: plain } })).status).toBe(401);
  });

  test('never leads to another site', async () => {
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example']) {
      const { answer } = await signIn({ ...asAdmin, next });
      const target = new URL(answer.headers.get('Location') ?? '', 'http://localhost/sign-in');
      expect([next, target.href]).toEqual([next, 'http://localhost/admin']);
      const form = await app.anonymous(`/sign-in?next=${encodeURIComponent(next)}`, { headers: PAGE });
      expect(await form.text()).toContain('name="next" value="/admin"');
    }
  });

  test('an unknown name and a wrong password get the same answer', async () => {
    const wrong = await signIn({ username: 'student', password: 'wrong', next: '/admin' });
    const unknown = await signIn({ username: 'nobody', password: 'wrong', next: '/admin' });
    expect(unknown.text.replaceAll('nobody', 'student')).toBe(wrong.text);
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
    const { database } = app;
    const Authorization = await app.account('changing', 'ROLE_API');
    expect(await status('/api/info/me', { Authorization })).toBe(200);
    const password_hash = await hashPassword('new');
    await database
      .updateTable('accounts')
      .set({ password_hash })
      .where('username', '=', 'changing')
      .execute();
    expect((await signIn({ username: 'changing', password: 'secret' })).answer.status).toBe(401);
    expect((await signIn({ username: 'changing', password: 'new' })).answer.status).toBe(303);
  });

  test('cannot be done by a page of another site', async () => {
    for (const [name, value] of [
      ['Origin', 'https://evil.example'],
      ['Sec-Fetch-Site', 'same-site'],
    ] as const) {
      const { answer, set } = await signIn(asStudent, { [name]: value });
      expect([answer.status, set]).toEqual([403, '']);
    }
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
    const student = (await signIn(asStudent)).cookie;
    for (const [path, forAdmin, forStudent] of [
      ['/admin', 200, 403],
      ['/admin/queues', 200, 403],
      ['/admin/queues/api/queues', 200, 403],
      ['/api/events', 200, 200],
      ['/api/agents', 200, 403],
    ] as const) {
      expect([path, await status(path, { Cookie: admin })]).toEqual([path, forAdmin]);
      expect([path, await status(path, { Cookie: student })]).toEqual([path, forStudent]);
    }
    const home = await app.anonymous('/admin', { headers: { ...PAGE, Cookie: admin } });
    expect(await home.text()).toMatch(
      /Signed in as <strong>admin<\/strong>[\s\S]*<button class="quiet">Sign out<\/button>/,
    );
  });

  test('changes things for our own pages, and for no other’s', async () => {
    const Cookie = (await signIn(asAdmin)).cookie;
    const create = (headers: Record<string, string>) =>
      app.anonymous('/api/series', {
        method: 'POST',
        headers: { Cookie, ...headers },
        body: new URLSearchParams({
          metadata: '[{"flavor":"dublincore/series","fields":[{"id":"title","value":"x"}]}]',
          acl: '[]',
        }),
      });
    expect((await create(OWN)).status).toBe(201);
    expect((await create({ Origin: 'http://localhost:81' })).status).toBe(403);
  });

  test('is good where SECURITY.md says, and nowhere else', async () => {
    const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8');
    const [, named = ''] = /It is good for\s(.*?)\. /s.exec(text) ?? [];
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

  test('is not for capture agents', async () => {
    const Cookie = (await signIn(asAdmin)).cookie;
    const answer = await app.anonymous('/capture-admin/agents/x', { method: 'POST', headers: { Cookie } });
    expect(answer.status).toBe(401);
  });

  test('of an account that may not gives a page with a way out', async () => {
    const Cookie = (await signIn(asStudent)).cookie;
    const answer = await app.anonymous('/admin/queues', { headers: { ...PAGE, Cookie } });
    const text = await answer.text();
    expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([403, 'no-store']);
    expect(text).toContain('This is for administrators only.');
    expect(text).toMatch(/<form method="post" action="..\/sign-out">[\s\S]*<strong>student<\/strong>/);
  });

  test('ends with the button, for every process', async () => {
    const { cookie } = await signIn(asAdmin);
    expect(await status('/sign-out', { ...PAGE, Cookie: cookie })).toBe(405);
    const answer = await app.anonymous('/sign-out', { method: 'POST', headers: { Cookie: cookie, ...OWN } });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('Location')).toBe('./sign-in');
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
  const pool = createPool('postgres://nobody@127.0.0.1:1/none', {
    max: 1,
    applicationName: 'away',
    onError: () => undefined,
  });
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
