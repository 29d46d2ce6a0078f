import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { endpointApp } from '../../../test/support/endpoint-app.ts';
import { defineEndpoint } from '../../http/endpoint/endpoint.ts';
import { Rules } from '../../http/endpoint/rules.ts';
import { addAccount } from '../accounts/accounts.ts';
import { Directory } from '../accounts/directory.ts';
import { hashPassword } from '../accounts/password.ts';
import { engageUrl, myRoles, organization, organizationProperties, me as whoAmI } from '../info.endpoints.ts';
import { authenticate } from '../sign-in/authentication.ts';
import { Authenticator } from '../sign-in/authenticator.ts';
import { Nonces, nonceKeyOf } from '../sign-in/digest/nonces.ts';
import { DigestVerifier } from '../sign-in/digest/verifier.ts';
import { ADMINISTRATORS } from './api-roles.ts';
import { requireRole } from './guard.ts';
import { runAs } from './run-as.ts';

const publicUrl = 'https://media.example';
const SERVICE = 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS';
let db: TestDatabase;
/** What a program is offered. */
const CHALLENGES =
  /^Digest realm="Opencast", qop="auth", nonce="[\w-]+", algorithm=MD5, Basic realm="Opencast"$/;

let app: Hono;

beforeAll(async () => {
  db = await createTestDatabase();
  const password_hash = await hashPassword('secret');
  for (const [username, name, ...roles] of [
    ['moodle', 'Moodle', SERVICE],
    ['ada', 'Ada L.', 'ROLE_X'],
    ['müller', '', 'ROLE_API'],
    ['chief', 'Chief', 'ROLE_ADMIN'],
    ['plain', '', 'ROLE_API'],
  ] as const) {
    await addAccount(db.database, { username, password_hash, name, email: `${name}@example.org`, roles });
  }
  const directory = new Directory({
    database: db.database,
    admin: { username: 'admin', password: 'secret' },
  });
  const nonces = new Nonces(nonceKeyOf(db.database));
  const signIn = authenticate({
    authenticator: new Authenticator(directory),
    digest: new DigestVerifier({ directory, nonces, publicUrl }),
  });
  const welcome = ['/api', '/api/version', '/api/version/default'].map((path) =>
    defineEndpoint({ method: 'get', path, access: 'public', handle: ({ c }) => c.text('welcome') }),
  );
  const dashboard = defineEndpoint({
    method: 'get',
    path: '/admin/queues',
    access: ADMINISTRATORS,
    handle: ({ c }) => c.text('dashboard'),
  });
  const info = [whoAmI, myRoles, organization, organizationProperties, engageUrl];
  const endpoints = [...welcome, ...info, dashboard];
  const ask = requireRole(new Rules(endpoints));
  const areas = [
    { path: '/api', guards: [signIn, ask, runAs(directory)] },
    { path: '/admin', guards: [signIn, ask] },
  ];
  app = endpointApp(endpoints, { config: { publicUrl } }, { areas });
});
afterAll(() => db.close());

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
  ])(
    'the header %j gets a challenge, also where anonymous requests are welcome',
    async (Authorization, challenge) => {
      for (const path of ['/api', '/api/info/me', '/admin/queues']) {
        const { status, headers } = await ask(path, undefined, { Authorization });
        expect([path, status]).toEqual([path, 401]);
        expect(headers.get('WWW-Authenticate')).toMatch(challenge);
      }
    },
  );

  test('the description of the API is open to everybody', async () => {
    for (const path of ['/api', '/api/', '/api/version', '/api/version/default']) {
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
    }
  });

  test('a missing role is 403, not a challenge', async () => {
    const { status, headers, text } = await ask('/api/info/me', 'ada');
    expect([status, text]).toEqual([403, 'This needs the role ROLE_API.']);
    expect(headers.get('WWW-Authenticate')).toBeNull();
  });

  test('the dashboard is for administrators', async () => {
    expect((await ask('/admin/queues')).status).toBe(401);
    expect((await ask('/admin/queues', 'moodle')).status).toBe(403);
    expect((await ask('/admin/queues', 'chief')).text).toBe('dashboard');
    expect((await ask('/admin/unknown', 'moodle')).status).toBe(403);
    expect((await ask('/%61dmin/queues', 'moodle')).status).toBe(403);
  });
});

describe('what the API says about the caller', () => {
  test('the administrator of the configuration', async () => {
    const { headers, text } = await ask('/api/info/me/', 'admin');
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(JSON.parse(text)).toEqual({
      provider: 'inlet',
      name: 'Administrator',
      userrole: 'ROLE_USER_ADMIN',
      email: '',
      username: 'admin',
    });
    const roles = JSON.parse((await ask('/api/info/me/roles', 'admin')).text);
    for (const role of ['ROLE_ADMIN', 'ROLE_SUDO', 'ROLE_API', 'ROLE_API_EVENTS_CREATE', 'ROLE_USER_ADMIN']) {
      expect(roles).toContain(role);
    }
  });

  test('an account with a name beyond ASCII', async () => {
    expect(JSON.parse((await ask('/api/info/me', 'müller')).text)).toMatchObject({
      username: 'müller',
      userrole: 'ROLE_USER_m~FC~ller',
    });
  });

  test('its organization', async () => {
    expect(JSON.parse((await ask('/api/info/organization', 'moodle')).text)).toEqual({
      adminRole: 'ROLE_ADMIN',
      anonymousRole: 'ROLE_ANONYMOUS',
      id: 'mh_default_org',
      name: 'Opencast Project',
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
  const ADA = { username: 'ada', roles: ['ROLE_X', 'ROLE_USER', 'ROLE_USER_ADA', 'ROLE_ANONYMOUS'] };

  test('the URL’s role is asked of the account itself, then the other one’s rights apply', async () => {
    expect(await me('moodle', { 'X-RUN-AS-USER': 'ada' })).toEqual(ADA);
    expect(await me('moodle', { 'X-Opencast-Matterhorn-User': '   ada   ' })).toEqual(ADA);
    expect(await me('moodle', { 'X-RUN-AS-USER': 'anonymous' })).toEqual({
      username: 'anonymous',
      roles: ['ROLE_ANONYMOUS'],
    });
  });

  test('user names beyond ASCII arrive as UTF-8', async () => {
    const bytes = Buffer.from('müller', 'utf8').toString('latin1');
    expect(await me('moodle', { 'X-RUN-AS-USER': bytes })).toMatchObject({ username: 'müller' });
  });

  test.each(['X-RUN-WITH-ROLES', 'X-Opencast-Matterhorn-Roles'])('%s replaces all roles', async (name) => {
    const roles = ['ROLE_A', 'Course_5'];
    expect(await me('moodle', { [name]: ' ROLE_A,, Course_5 ' })).toEqual({ username: 'anonymous', roles });
    expect(await me('moodle', { [name]: 'ROLE_A, Course_5', 'X-RUN-AS-USER': 'ada' })).toEqual({
      username: 'ada',
      roles,
    });
  });

  test('an empty list of roles leaves none, an empty user name changes nothing', async () => {
    expect(await me('moodle', { 'X-RUN-WITH-ROLES': '' })).toEqual({ username: 'anonymous', roles: [] });
    expect(await me('moodle', { 'X-RUN-AS-USER': ' ' })).toMatchObject({ username: 'moodle' });
  });

  test('an unknown user is 412', async () => {
    expect(await me('moodle', { 'X-RUN-AS-USER': 'nobody' })).toEqual([
      412,
      'The user to act as does not exist.',
    ]);
  });

  test.each([
    ['plain', { 'X-RUN-AS-USER': 'ada' }],
    ['plain', { 'X-RUN-AS-USER': 'nobody' }],
    ['plain', { 'X-RUN-AS-USER': 'plain' }],
    ['plain', { 'X-RUN-WITH-ROLES': 'ROLE_A' }],
    ['moodle', { 'X-RUN-AS-USER': 'admin' }],
    ['moodle', { 'X-RUN-AS-USER': 'chief' }],
    ['moodle', { 'X-RUN-AS-USER': 'admin', 'X-RUN-WITH-ROLES': 'ROLE_A' }],
    ['moodle', { 'X-RUN-WITH-ROLES': 'ROLE_A, ROLE_ADMIN' }],
    ['moodle', { 'X-RUN-WITH-ROLES': 'ROLE_SUDO' }],
    ['moodle', { 'X-RUN-AS-USER': 'moodle' }],
    ['moodle', { 'X-Opencast-Matterhorn-Organization': 'mh_default_org' }],
    ['chief', { 'X-Opencast-Matterhorn-Organization': 'other' }],
  ] as [string, Record<string, string>][])('%s may not ask for %j', async (username, headers) => {
    expect(await me(username, headers)).toMatchObject([403, expect.any(String)]);
  });

  test('administrators may take any roles and name the organization there is', async () => {
    expect(await me('chief', { 'X-RUN-AS-USER': 'admin' })).toMatchObject({ username: 'admin' });
    const headers = {
      'X-RUN-WITH-ROLES': 'ROLE_ADMIN',
      'X-Opencast-Matterhorn-Organization': 'mh_default_org',
    };
    expect(await me('admin', headers)).toEqual({ username: 'anonymous', roles: ['ROLE_ADMIN'] });
  });

  test('other roles do not open other URLs', async () => {
    const headers = { 'X-RUN-WITH-ROLES': 'ROLE_ADMIN' };
    expect((await ask('/api/info/organization/properties', 'moodle', headers)).status).toBe(403);
    expect((await ask('/api', undefined, { 'X-RUN-AS-USER': 'ada' })).status).toBe(403);
  });
});
