import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventFields, form } from '../support/form.ts';
import {
  AUDIENCE,
  ISSUER,
  type KeySetServer,
  type SigningKey,
  serveKeys,
  signingKey,
} from '../support/identity-provider.ts';
import { insertEvent } from '../support/publication.ts';

let app: TestApp;
let server: KeySetServer;
let key: SigningKey;
const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_ROLES_CLAIM: 'realm_access.roles' };

beforeAll(async () => {
  key = await signingKey('RS256');
  server = await serveKeys(key.publicJwk);
  app = await createTestApp(undefined, { ...JWT, JWT_JWKS: server.url });
});
afterAll(async () => {
  await app?.close();
  await server?.close();
});

async function ask(token: string, path: string, init: RequestInit = {}) {
  const headers = { ...init.headers, Authorization: `Bearer ${token}` };
  const answer = await app.request(path, { ...init, headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const granted = (...roles: string[]) => ({ realm_access: { roles } });

test('somebody known to the identity provider signs in with a token', async () => {
  const token = await key.sign({ ...granted('ROLE_API', 'ROLE_X'), sub: 'g.hopper', name: 'Grace Hopper' });
  expect(JSON.parse((await ask(token, '/api/info/me')).text)).toEqual({
    provider: 'jwt',
    name: 'Grace Hopper',
    userrole: 'ROLE_USER_g~2E~hopper',
    email: '',
    username: 'g.hopper',
  });
  expect(JSON.parse((await ask(token, '/api/info/me/roles')).text)).toEqual([
    'ROLE_API',
    'ROLE_X',
    'ROLE_USER',
    'ROLE_USER_g~2E~hopper',
    'ROLE_ANONYMOUS',
  ]);
  expect(await ask(token, '/api/events')).toMatchObject({
    status: 403,
    text: 'This needs the role ROLE_API_EVENTS_VIEW.',
  });
  expect((await ask(token, '/admin/queues')).status).toBe(403);
});

test('the roles of a token decide which events it sees', async () => {
  const id = await insertEvent(app.database);
  await app.database
    .insertInto('event_acl')
    .values({ event_id: id, position: 0, role: 'ROLE_COURSE', action: 'read', allow: true })
    .execute();
  const path = `/api/events/${id}`;
  const student = await key.sign(granted('ROLE_API_EVENTS_VIEW', 'ROLE_COURSE'));
  const other = await key.sign(granted('ROLE_API_EVENTS_VIEW'));
  expect([(await ask(student, path)).status, (await ask(other, path)).status]).toEqual([200, 404]);
});

test('an event made with a token is made in the name of its user', async () => {
  const token = await key.sign({ ...granted('ROLE_API_EVENTS_CREATE'), name: 'Grace Hopper' });
  const { type, body } = form(eventFields());
  const { status, text } = await ask(token, '/api/events', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
  expect([status, text]).toEqual([201, expect.any(String)]);
  const { identifier } = JSON.parse(text) as { identifier: string };
  const event = app.database.selectFrom('events').select('creator').where('id', '=', identifier);
  expect(await event.executeTakeFirst()).toEqual({ creator: 'Grace Hopper' });
});

test('a token that is no good is refused with the challenge of its scheme, also where anybody may ask', async () => {
  for (const token of [await key.sign({ aud: 'wiki' }), 'x', '']) {
    for (const path of ['/api', '/api/info/me', '/admin/queues']) {
      const { status, headers, text } = await ask(token, path);
      expect([path, status, headers.get('Content-Type')]).toEqual([path, 401, 'text/plain; charset=utf-8']);
      expect(headers.get('WWW-Authenticate')).toBe('Bearer realm="Opencast", error="invalid_token"');
      expect(text).toMatch(/^The .*\.$/);
    }
  }
});

test.each(['admin', 'ADMIN', 'ada.l', 'ada_b', 'ADA_B'])(
  'a token cannot pass for the account of %s',
  async (sub) => {
    await app.database
      .insertInto('accounts')
      .values(['ada.l', 'ada_b'].map((username) => ({ username, password_hash: 'x', roles: [] })))
      .onConflict((taken) => taken.doNothing())
      .execute();
    expect(await ask(await key.sign({ ...granted('ROLE_API'), sub }), '/api/info/me')).toMatchObject({
      status: 401,
      text: 'The user name in the token belongs to an account of this server.',
    });
  },
);

test.each([
  ['müller', 'möller'],
  ['jane.doe', 'jane_doe'],
  ['Jane.doe', 'jane.doe'],
  ['m~FC~ller', 'müller'],
])('%s may read what is for %s no more than anybody else', async (stranger, reader) => {
  const id = await insertEvent(app.database);
  const token = await key.sign({ ...granted('ROLE_API', 'ROLE_API_EVENTS_VIEW'), sub: reader });
  const { userrole } = JSON.parse((await ask(token, '/api/info/me')).text) as { userrole: string };
  await app.database
    .insertInto('event_acl')
    .values({ event_id: id, position: 0, role: userrole, action: 'read', allow: true })
    .execute();
  const other = await key.sign({ ...granted('ROLE_API_EVENTS_VIEW'), sub: stranger });
  const path = `/api/events/${id}`;
  expect([(await ask(token, path)).status, (await ask(other, path)).status]).toEqual([200, 404]);
});

test('of two names that differ in case alone, the first to come has the role', async () => {
  const first = await key.sign({ ...granted('ROLE_API'), sub: 'Anna' });
  const second = await key.sign({ ...granted('ROLE_API'), sub: 'anna' });
  expect(JSON.parse((await ask(first, '/api/info/me')).text)).toMatchObject({ userrole: 'ROLE_USER_ANNA' });
  expect(await ask(second, '/api/info/me')).toMatchObject({
    status: 401,
    text: 'Another user has the user name in the token, with other letters in upper case.',
  });
  expect((await ask(first, '/api/info/me')).status).toBe(200);
});

test('nobody can act as a user of the identity provider, whose roles only a token tells', async () => {
  const answer = await app.request('/api/info/me', { headers: { 'X-RUN-AS-USER': 'grace' } });
  expect(answer.status).toBe(412);
});

test('with a token as with a password, ROLE_SUDO lets act as an account', async () => {
  await app.account('target', 'ROLE_API');
  const token = await key.sign(granted('ROLE_API', 'ROLE_SUDO'));
  const { text } = await ask(token, '/api/info/me', { headers: { 'X-RUN-AS-USER': 'target' } });
  expect(JSON.parse(text)).toMatchObject({ username: 'target' });
  expect((await ask(token, '/api/info/me', { headers: { 'X-RUN-AS-USER': 'admin' } })).status).toBe(403);
});

test('while the identity provider is down, unknown tokens wait and passwords work', async () => {
  const down = await serveKeys();
  await down.close();
  const lonely = await createTestApp(undefined, { ...JWT, JWT_JWKS: down.url });
  try {
    const Authorization = `Bearer ${await key.sign(granted('ROLE_API'))}`;
    const answer = await lonely.request('/api/info/me', { headers: { Authorization } });
    expect([answer.status, await answer.text()]).toEqual([
      503,
      'The token cannot be verified at the moment. Try again later.',
    ]);
    expect(answer.headers.get('Retry-After')).toBe('10');
    expect((await lonely.request('/api/info/me')).status).toBe(200);
  } finally {
    await lonely.close();
  }
});

test('without an identity provider a token is an unknown scheme', async () => {
  const plain = await createTestApp();
  try {
    const Authorization = `Bearer ${await key.sign(granted('ROLE_ADMIN'))}`;
    const answer = await plain.request('/api/info/me', { headers: { Authorization } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic realm="Opencast"$/);
  } finally {
    await plain.close();
  }
});
