import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, send } from '../support/series.ts';

const SERVICE = 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS';

let app: TestApp;
let service: { Authorization: string };
let event: string;
beforeAll(async () => {
  app = await createTestApp();
  service = { Authorization: await app.account('moodle', SERVICE) };
  event = await insertEvent(app.database);
});
afterAll(() => app?.close());

const status = async (path: string, headers: Record<string, string> = service) =>
  (await app.request(path, { headers })).status;

test('the PHP library asks for the version without credentials', async () => {
  const answer = await app.request('/api', { headers: service });
  const open = await app.anonymous('/api');
  expect(open.status).toBe(200);
  expect(await open.json()).toEqual(await answer.json());
});

test.each([
  ['Digest', /^Digest realm="Opencast", qop="auth", nonce="[\w-]+", algorithm=MD5$/],
  ['Basic', /^Basic realm="Opencast"$/],
])('scripts with X-Requested-Auth: %s are told to use that', async (scheme, challenge) => {
  const answer = await app.anonymous('/api/events', { headers: { 'X-Requested-Auth': scheme } });
  expect(answer.status).toBe(401);
  expect(answer.headers.get('WWW-Authenticate')).toMatch(challenge);
});

test.each(['/api/', '/api/events/', '/api/series/', '/api/info/me/', '/api/version/'])(
  'R and Python clients ask for %s with its slash at the end',
  async (path) => {
    expect(await status(path)).toBe(200);
  },
);

test('clients that put the role of the service account into an ACL keep access', async () => {
  expect(await status(`/api/events/${event}`)).toBe(404);
  await giveAcl(app, event, [ace(SERVICE), ace(SERVICE, 'write')]);
  expect(await status(`/api/events/${event}`)).toBe(200);
  expect((await send(app, 'PUT', `/api/events/${event}/acl`, { acl: '[]' }, service)).status).toBe(204);
});

test('the PHP library joins roles with a comma and a blank', async () => {
  await giveAcl(app, event, [ace('ROLE_B')]);
  const headers = { ...service, 'X-RUN-WITH-ROLES': 'ROLE_A, ROLE_B' };
  expect(await status(`/api/events/${event}`, headers)).toBe(200);
});

test('a user name to act as may have blanks around it', async () => {
  await app.account('ada', 'ROLE_X');
  const answer = await send(app, 'GET', '/api/info/me', undefined, {
    ...service,
    'X-RUN-AS-USER': '  ada  ',
  });
  expect(JSON.parse(answer.text)).toMatchObject({ username: 'ada' });
});

test.each([
  ['true', true],
  ['TRUE', true],
  ['True', true],
  ['1', false],
  ['yes', false],
  ['', false],
])('withacl=%s is %s', async (value, expected) => {
  const answer = await send(app, 'GET', `/api/events/${event}?withacl=${value}`);
  expect('acl' in JSON.parse(answer.text)).toBe(expected);
});

test('empty filter and sort parameters are ignored', async () => {
  for (const list of ['/api/events', '/api/series']) {
    const [plain, empty] = [await send(app, 'GET', list), await send(app, 'GET', `${list}?filter=&sort=`)];
    expect(empty).toEqual(plain);
  }
});
