import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addMachine, userCommand } from '../support/accounts.ts';
import { ADMIN, createTestApp, workerApp } from '../support/app.ts';
import { digestHeader, nonceOf } from '../support/digest.ts';
import { AUDIENCE, ISSUER, serveKeys, signingKey } from '../support/identity-provider.ts';
import { ace, createSeries, send } from '../support/series.ts';

const app = await workerApp();
/** An application for one test. */
async function testApp(environment: Record<string, string> = {}) {
  const own = await createTestApp(undefined, environment);
  onTestFinished(() => own.close());
  return own;
}
const unique = (name: string) => `${name}_${randomUUID().replaceAll('-', '')}`;
const ROLES = '/api/info/me/roles';
const EDITOR = ['ROLE_API', 'ROLE_API_GROUPS_VIEW', 'ROLE_API_GROUPS_CREATE', 'ROLE_API_GROUPS_EDIT'];

/** Creates a group as the administrator. @returns its address, and that of its members */
async function createGroup(fields: Record<string, string> = {}) {
  const id = unique('group');
  expect((await send(app, 'POST', '/api/groups', { name: id, ...fields })).status).toBe(201);
  return {
    id,
    path: `/api/groups/${id}`,
    members: `/api/groups/${id}/members`,
    role: `ROLE_GROUP_${id.toUpperCase()}`,
  };
}
const read = async (path: string) => JSON.parse((await send(app, 'GET', path)).text);
async function rolesWith(headers: Record<string, string>, on = app): Promise<string[]> {
  const answer = await on.anonymous(ROLES, { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as string[];
}

test('a group is created, read, changed and deleted with the statuses of the reference', async () => {
  const name = unique('Physics-Lab ä🔭');
  const id = name.toLowerCase().replace(/[^a-z0-9_]/gu, '_');
  const path = `/api/groups/${id}`;
  const missing = { status: 404, text: `Cannot find a group with id '${id}'.` };
  for (const method of ['GET', 'DELETE']) expect(await send(app, method, path)).toMatchObject(missing);
  expect(await send(app, 'PUT', path, { description: 'x' })).toMatchObject(missing);
  const created = await send(app, 'POST', '/api/groups', {
    name,
    roles: 'ROLE_B, ROLE_A,,ROLE_B',
    members: 'grace, ada',
  });
  expect(created).toMatchObject({ status: 201, text: '', location: `http://inlet.test${path}` });
  const group = {
    ...{ identifier: id, organization: 'mh_default_org', role: `ROLE_GROUP_${id.toUpperCase()}`, name },
    ...{ description: '', roles: 'ROLE_B,ROLE_A', members: 'ada,grace' },
  };
  expect(await read(path)).toEqual(group);
  expect((await send(app, 'POST', '/api/groups', { name: name.toUpperCase().replace('Ä', 'ö') })).status).toBe(409);
  expect(await send(app, 'PUT', path, { description: 'Staff', members: 'ada' })).toMatchObject({
    status: 200,
    text: '',
  });
  expect(await read(path)).toEqual({ ...group, description: 'Staff', members: 'ada' });
  expect(await send(app, 'PUT', path, { roles: '' })).toMatchObject({ status: 200 });
  expect(await read(path)).toMatchObject({ roles: '', description: 'Staff' });
  expect(await send(app, 'DELETE', path)).toMatchObject({ status: 204, text: '' });
  expect((await send(app, 'GET', path)).status).toBe(404);
});

test('a name keeps its length in the identifier, whatever its letters are in lower case', async () => {
  const name = 'İ'.repeat(128);
  const id = '_'.repeat(128);
  await send(app, 'DELETE', `/api/groups/${id}`);
  expect(await send(app, 'POST', '/api/groups', { name })).toMatchObject({
    status: 201,
    location: `http://inlet.test/api/groups/${id}`,
  });
});

test('members are added and removed once, and then it is said that nothing changed', async () => {
  const { members, path } = await createGroup();
  expect(await send(app, 'POST', members, { member: 'ada' })).toMatchObject({ status: 200, text: '' });
  const already = { status: 200, text: 'Member is already member of group.' };
  expect(await send(app, 'POST', members, { member: 'ada' })).toMatchObject(already);
  expect((await read(path)).members).toBe('ada');
  expect(await send(app, 'DELETE', `${members}/ada`)).toMatchObject({ status: 200, text: '' });
  const none = { status: 200, text: 'Member is already not member of group.' };
  expect(await send(app, 'DELETE', `${members}/ada`)).toMatchObject(none);
  const nowhere = { status: 404, text: "Cannot find group with id 'nowhere'." };
  expect(await send(app, 'POST', '/api/groups/nowhere/members', { member: 'ada' })).toMatchObject(nowhere);
  expect(await send(app, 'DELETE', '/api/groups/nowhere/members/ada')).toMatchObject(nowhere);
});

test('Moodle creates the group of a course with the account of a platform, and lists its role', async () => {
  const [platform, student, name] = [unique('moodle'), unique('student'), unique('Moodle_course')];
  const service = { Authorization: await app.account(platform, 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS') };
  const reader = { Authorization: await app.account(student) };
  const path = `/api/groups/${name.toLowerCase()}`;
  const description = 'ACL for users in Course with id 7 from site "Moodle"';
  const fields = { name, description, roles: 'ROLE_API_SERIES_VIEW,ROLE_API_EVENTS_VIEW', members: '' };
  expect((await send(app, 'GET', path, undefined, service)).status).toBe(404);
  expect((await send(app, 'POST', '/api/groups', fields, service)).status).toBe(201);
  const { role } = JSON.parse((await send(app, 'GET', path, undefined, service)).text);
  const series = await createSeries(app, {}, [ace(role)]);
  const read = () => send(app, 'GET', `/api/series/${series}`, undefined, reader);
  expect((await read()).status).toBe(403);
  expect((await send(app, 'PUT', path, { members: student }, service)).status).toBe(200);
  expect((await read()).status).toBe(200);
});

test('a list is filtered by name, sorted and cut', async () => {
  const prefix = unique('listed');
  const names = ['b', 'a', 'c'].map((letter) => `${prefix} ${letter}`);
  for (const name of names) await send(app, 'POST', '/api/groups', { name, description: `of ${name}` });
  const list = async (query: string) => {
    const found = (await read(`/api/groups?${query}`)) as { name: string }[];
    return found.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  };
  const sorted = [...names].sort();
  expect(await list('')).toEqual(sorted);
  expect(await list('sort=name:DESC,description:ASC')).toEqual([...sorted].reverse());
  expect(await list('sort=role:DESC')).toEqual([...sorted].reverse());
  const filter = `filter=${names.map((name) => `name:${encodeURIComponent(name)}`).join(',')}`;
  expect(await list(`${filter}&limit=1&offset=1`)).toEqual([sorted[1]]);
  expect((await send(app, 'GET', '/api/groups?sort=colour:ASC')).status).toBe(400);
});

test.each([
  [{}, "The form parameter 'name' must have 1 to 128 characters, none of them a control character."],
  [{ name: ' ' }, "The form parameter 'name' must have"],
  [{ name: 'a'.repeat(129) }, "The form parameter 'name' must have"],
  [{ name: 'x', roles: 'ROLE A' }, "The form parameter 'roles' has the role"],
  [{ name: 'x', roles: 'R'.repeat(256) }, "The form parameter 'roles' has the role"],
  [{ name: 'x', roles: Array.from({ length: 501 }, (_, i) => `R${i}`).join() }, 'A group has at most 500 roles.'],
  [{ name: 'x', members: 'a:b' }, "The form parameter 'members' has the user name"],
  [{ name: 'x', members: 'anonymous' }, "The form parameter 'members' has the user name"],
  [
    { name: 'x', members: Array.from({ length: 10_001 }, (_, i) => `u${i}`).join() },
    'A group has at most 10000 members.',
  ],
  [{ name: 'x', description: 'd'.repeat(4001) }, "The form parameter 'description' must have at most"],
])('a bad group is refused with the field and what is allowed (%#)', async (fields, sentence) => {
  const { status, text } = await send(app, 'POST', '/api/groups', fields as Record<string, string>);
  expect([status, text]).toEqual([400, expect.stringContaining(sentence)]);
});

describe('a member has the roles of the group on the next request', () => {
  const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };

  test.each(['a password', 'HTTP Digest', 'a session', 'a token', 'the headers of a service'])(
    'with %s, and loses them with the membership',
    async (way) => {
      const key = await signingKey();
      const server = await serveKeys(key.publicJwk);
      const own = way === 'a token' ? await testApp({ ...JWT, JWT_JWKS: server.url }) : app;
      onTestFinished(() => server.close());
      const username = unique('member');
      const ways: Record<string, () => Promise<Record<string, string>>> = {
        'a password': async () => ({ Authorization: await own.account(username, 'ROLE_API') }),
        'HTTP Digest': async () => {
          await addMachine(own.database, username, { roles: ['ROLE_API'] });
          const nonce = nonceOf(await own.anonymous(ROLES));
          return { Authorization: digestHeader({ username, password: 'secret', uri: ROLES, nonce, nc: '00000001' }) };
        },
        'a session': async () => {
          await own.account(username, 'ROLE_API');
          const body = new URLSearchParams({ username, password: 'secret' });
          const answer = await own.anonymous('/sign-in', {
            ...{ method: 'POST', body },
            headers: { Origin: 'http://inlet.test', 'Sec-Fetch-Site': 'same-origin' },
          });
          return { Cookie: answer.headers.get('Set-Cookie')?.split(';', 1)[0] ?? '' };
        },
        'a token': async () => ({ Authorization: `Bearer ${await key.sign({ sub: username, roles: ['ROLE_API'] })}` }),
        'the headers of a service': async () => {
          await own.account(username, 'ROLE_API');
          return { Authorization: ADMIN, 'X-RUN-AS-USER': username };
        },
      };
      const headers = await ways[way]?.();
      const id = unique('group');
      const group = [`ROLE_GROUP_${id.toUpperCase()}`, 'ROLE_COURSE'];
      const held = async () => (await rolesWith(headers ?? {}, own)).filter((role) => group.includes(role));
      expect(await held()).toEqual([]);
      await send(own, 'POST', '/api/groups', { name: id, roles: 'ROLE_COURSE', members: username });
      expect(await held()).toEqual(group);
      await send(own, 'DELETE', `/api/groups/${id}/members/${username}`);
      expect(await held()).toEqual([]);
    },
  );

  test('also of endpoints: the group of service accounts includes all API roles', async () => {
    const username = unique('service');
    const headers = { Authorization: await app.account(username) };
    expect((await app.anonymous('/api/groups', { headers })).status).toBe(403);
    const path = '/api/groups/mh_default_org_external_applications';
    expect((await read(path)).roles.split(',')).toEqual(expect.arrayContaining(['ROLE_API_EVENTS_VIEW', 'ROLE_SUDO']));
    await send(app, 'POST', `${path}/members`, { member: username });
    expect((await app.anonymous('/api/groups', { headers })).status).toBe(200);
  });

  test('and not someone else with the same name, after the account is removed', async () => {
    const own = await testApp();
    await own.account('ada');
    await send(own, 'POST', '/api/groups', { name: 'staff', members: 'ada,grace' });
    await userCommand(own.context.databaseUrl, ['remove', 'ada']);
    expect(JSON.parse((await send(own, 'GET', '/api/groups/staff')).text).members).toBe('grace');
  });

  test('and a group named like a user does not give the role of this user', async () => {
    const user = unique('ada');
    const username = unique('member');
    const headers = { Authorization: await app.account(username, 'ROLE_API') };
    await createGroup({ name: `user_${user}`, members: username });
    const roles = await rolesWith(headers);
    expect(roles).toContain(`ROLE_GROUP_USER_${user.toUpperCase()}`);
    expect(roles).not.toContain(`ROLE_USER_${user.toUpperCase()}`);
  });
});

describe('an account that may edit groups cannot grant a role that it does not have', async () => {
  const username = unique('editor');
  const headers = { Authorization: await app.account(username, ...EDITOR, 'ROLE_API_GROUPS_DELETE', 'ROLE_COURSE') };
  const by = (method: string, path: string, fields?: Record<string, string>, more = {}) =>
    send(app, method, path, fields, { ...headers, ...more });
  const refused = (role: string) => ({
    status: 403,
    text: `Only a user with the role ${role} may change a group that grants it.`,
  });

  test('by a new group', async () => {
    for (const role of ['ROLE_ADMIN', 'ROLE_SUDO', 'ROLE_API_EVENTS_DELETE', 'ROLE_USER_ADMIN']) {
      expect(await by('POST', '/api/groups', { name: 'x', roles: role, members: username })).toMatchObject(
        refused(role),
      );
    }
    expect((await send(app, 'GET', '/api/groups/x')).status).toBe(404);
    const own = { name: unique('mine'), roles: 'ROLE_COURSE', members: username };
    expect((await by('POST', '/api/groups', own)).status).toBe(201);
  });

  test('by a group that includes roles by its name', async () => {
    const { members } = { members: '/api/groups/mh_default_org_external_applications/members' };
    expect((await by('POST', members, { member: username })).status).toBe(403);
    expect((await by('POST', '/api/groups', { name: 'MH_default_org_external_applications' })).status).toBe(403);
  });

  test('by a group that has it: it cannot be joined, changed or deleted', async () => {
    const { path, members } = await createGroup({ roles: 'ROLE_ADMIN' });
    expect(await by('POST', members, { member: username })).toMatchObject(refused('ROLE_ADMIN'));
    expect(await by('PUT', path, { members: username })).toMatchObject(refused('ROLE_ADMIN'));
    expect(await by('PUT', path, { roles: '', members: username })).toMatchObject(refused('ROLE_ADMIN'));
    expect(await by('DELETE', `${members}/ada`)).toMatchObject(refused('ROLE_ADMIN'));
    expect(await by('DELETE', path)).toMatchObject(refused('ROLE_ADMIN'));
  });

  test('by a later change', async () => {
    const { path } = await createGroup({ members: username });
    expect(await by('PUT', path, { roles: 'ROLE_ADMIN' })).toMatchObject(refused('ROLE_ADMIN'));
    expect((await by('PUT', path, { roles: 'ROLE_COURSE' })).status).toBe(200);
  });

  test('by acting with that role', async () => {
    const sudo = unique('sudo');
    const Authorization = await app.account(sudo, ...EDITOR, 'ROLE_SUDO');
    const acting = { Authorization, 'X-RUN-WITH-ROLES': 'ROLE_API_EVENTS_DELETE' };
    const fields = { name: 'y', roles: 'ROLE_API_EVENTS_DELETE', members: sudo };
    expect(await by('POST', '/api/groups', fields, acting)).toMatchObject(refused('ROLE_API_EVENTS_DELETE'));
  });
});
