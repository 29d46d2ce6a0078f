import { expect, test } from 'vitest';
import { workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, send } from '../support/series.ts';

const SERVICE = 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS';

const app = await workerApp();
const service = { Authorization: await app.account('clients-moodle', SERVICE) };
const event = await insertEvent(app.database);

const status = async (path: string, headers: Record<string, string> = service) =>
  (await app.request(path, { headers })).status;

test('the PHP library asks for the version without credentials', async () => {
  const answer = await app.request('/api', { headers: service });
  const open = await app.anonymous('/api');
  expect(open.status).toBe(200);
  expect(await open.json()).toEqual(await answer.json());
});

test.each(['/api/', '/api/events/', '/api/series/', '/api/info/me/'])(
  'R and Python clients ask for %s with its slash at the end',
  async (path) => expect(await status(path)).toBe(200),
);

test('clients that put the role of the service account into an ACL keep access', async () => {
  expect(await status(`/api/events/${event}`)).toBe(404);
  await giveAcl(app, event, [ace(SERVICE), ace(SERVICE, 'write')]);
  expect(await status(`/api/events/${event}`)).toBe(200);
  expect((await send(app, 'PUT', `/api/events/${event}/acl`, { acl: '[]' }, service)).status).toBe(204);
});

test('empty filter and sort parameters are ignored', async () => {
  for (const list of ['/api/events', '/api/series']) {
    const plain = await send(app, 'GET', `${list}?limit=5`);
    expect(await send(app, 'GET', `${list}?limit=5&filter=&sort=`)).toEqual(plain);
  }
});
