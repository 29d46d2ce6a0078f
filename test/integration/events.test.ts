import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { insertEvent, insertPublication } from '../support/publication.ts';

const VIEW = 'ROLE_API_EVENTS_VIEW';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  await app.database.deleteFrom('events').execute();
});

const at = (day: number) => new Date(Date.UTC(2026, 0, day));

async function grant(eventId: string, role: string, action = 'read', allow = true): Promise<void> {
  const { position } = await app.database
    .selectFrom('event_acl')
    .select((eb) => eb.fn.countAll<number>().as('position'))
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow();
  await app.database
    .insertInto('event_acl')
    .values({ event_id: eventId, position, role, action, allow })
    .execute();
}

async function list(query = '', headers: Record<string, string> = {}): Promise<string[]> {
  const answer = await app.request(`/api/events${query}`, { headers });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { identifier: string }[]).map(({ identifier }) => identifier);
}

async function read(id: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const answer = await app.request(`/api/events/${id}`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

test('events are listed from the latest start, those of one start always in the same order', async () => {
  const same = ['b', 'a', 'c'];
  for (const id of same) await insertEvent(app.database, { id, start_date: at(5) });
  await insertEvent(app.database, { id: 'old', start_date: at(1) });
  await insertEvent(app.database, { id: 'new', start_date: at(9) });
  expect(await list()).toEqual(['new', 'c', 'b', 'a', 'old']);
});

test('pages cut the list without a gap or an overlap', async () => {
  for (let i = 0; i < 7; i += 1) await insertEvent(app.database, { id: `e${i}`, start_date: at(i % 2) });
  const all = await list();
  const pages = [await list('?limit=3'), await list('?limit=3&offset=3'), await list('?limit=3&offset=6')];
  expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
  expect(pages.flat()).toEqual(all);
  expect(await list('?limit=0')).toEqual(all);
  expect(await list('?offset=5')).toEqual(all.slice(5));
  expect(await list('?offset=100')).toEqual([]);
});

test.each(['limit=-1', 'limit=ten', 'limit=1.5', 'offset=-1', 'limit=1e3', `offset=${2 ** 60}`])(
  '%s is refused',
  async (query) => {
    const answer = await app.request(`/api/events?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/^The parameter '(limit|offset)' is ".*"; allowed is a whole number/);
  },
);

test('pages hold what the account may see, however much it may not', async () => {
  const Authorization = await app.account(`viewer-${randomUUID()}`, VIEW, 'ROLE_A');
  for (let i = 0; i < 10; i += 1) {
    const id = await insertEvent(app.database, { id: `e${i}`, start_date: at(i + 1) });
    await grant(id, i % 3 === 0 ? 'ROLE_A' : 'ROLE_B');
  }
  expect(await list('?limit=2', { Authorization })).toEqual(['e9', 'e6']);
  expect(await list('?limit=2&offset=2', { Authorization })).toEqual(['e3', 'e0']);
  expect(await list('?onlyWithWriteAccess=true', { Authorization })).toEqual([]);
});

test('an entry that does not allow grants nothing, and takes nothing away', async () => {
  const Authorization = await app.account(`viewer-${randomUUID()}`, VIEW, 'ROLE_A', 'ROLE_B');
  const denied = await insertEvent(app.database);
  await grant(denied, 'ROLE_A', 'read', false);
  const both = await insertEvent(app.database);
  await grant(both, 'ROLE_A', 'read', false);
  await grant(both, 'ROLE_B');
  expect(await list('', { Authorization })).toEqual([both]);
});

test('an event without an ACL has that of its series', async () => {
  const Authorization = await app.account(`viewer-${randomUUID()}`, VIEW, 'ROLE_COURSE');
  await app.database.insertInto('series').values({ id: 'course', title: 'Course' }).execute();
  await app.database
    .insertInto('series_acl')
    .values({ series_id: 'course', position: 0, role: 'ROLE_COURSE', action: 'read', allow: true })
    .execute();
  const inherits = await insertEvent(app.database, { series_id: 'course' });
  const own = await insertEvent(app.database, { series_id: 'course' });
  await grant(own, 'ROLE_OTHER');
  expect(await list('', { Authorization })).toEqual([inherits]);
  expect(await read(inherits, { Authorization })).toMatchObject({ series: 'Course', is_part_of: 'course' });
  expect((await app.request(`/api/events/${own}`, { headers: { Authorization } })).status).toBe(404);
  await app.database.deleteFrom('series').execute();
});

test('the entity tag of an event changes with whatever is shown of it, and with nothing else', async () => {
  const id = await insertEvent(app.database);
  const tag = async (headers: Record<string, string> = {}, query = '') =>
    (await app.request(`/api/events/${id}${query}`, { headers })).headers.get('ETag');
  const first = await tag();
  await insertEvent(app.database);
  expect(await tag()).toBe(first);
  expect(await tag({ Accept: 'application/v1.10.0+json' })).not.toBe(first);
  expect(await tag({}, '?withacl=true')).not.toBe(first);
  await app.database
    .updateTable('events')
    .set({ processing_state: 'RUNNING' })
    .where('id', '=', id)
    .execute();
  const second = await tag();
  expect(second).not.toBe(first);
  await insertPublication(app.database, id);
  expect(await tag()).not.toBe(second);
});

test.each([
  [(tag: string) => tag, 304],
  [(tag: string) => `W/${tag}`, 304],
  [(tag: string) => `"other", ${tag}`, 304],
  [() => '*', 304],
  [() => '"other"', 200],
])('If-None-Match %s is answered with %i', async (header, status) => {
  const id = await insertEvent(app.database);
  const tag = (await app.request(`/api/events/${id}`)).headers.get('ETag') ?? '';
  const answer = await app.request(`/api/events/${id}`, { headers: { 'If-None-Match': header(tag) } });
  expect(answer.status).toBe(status);
});

test('an event that must not be seen is not told of by its entity tag either', async () => {
  const id = await insertEvent(app.database);
  const tag = (await app.request(`/api/events/${id}`)).headers.get('ETag') ?? '';
  const Authorization = await app.account(`viewer-${randomUUID()}`, VIEW);
  const headers = { Authorization, 'If-None-Match': tag };
  expect((await app.request(`/api/events/${id}`, { headers })).status).toBe(404);
});

const ALWAYS = [
  ...['archive_version', 'contributor', 'created', 'creator', 'description', 'has_previews', 'identifier'],
  ...['location', 'presenter', 'processing_state', 'publication_status', 'start', 'subjects', 'title'],
];
const SINCE_1_1 = ['is_part_of', 'language', 'license', 'rightsholder', 'series', 'source', 'status'];

test.each([
  ['application/v1.0.0+json', '1.0.0', ALWAYS],
  ['application/v1.1.0+json', '1.1.0', [...ALWAYS, ...SINCE_1_1]],
  ['application/v1.3.0+json', '1.3.0', [...ALWAYS, ...SINCE_1_1]],
  ['application/v1.4.0+json', '1.4.0', [...ALWAYS, ...SINCE_1_1, 'duration']],
  ['application/v1.0.0+json, application/v1.2.0+json', '1.2.0', [...ALWAYS, ...SINCE_1_1]],
  ['application/v1.0.0+json, application/json', '1.11.0', [...ALWAYS, ...SINCE_1_1, 'duration']],
  ['*/*', '1.11.0', [...ALWAYS, ...SINCE_1_1, 'duration']],
])('Accept: %s is answered in version %s', async (Accept, version, fields) => {
  const id = await insertEvent(app.database, { duration: 1000 });
  for (const path of [`/api/events/${id}`, '/api/events']) {
    const answer = await app.request(path, { headers: { Accept } });
    expect(answer.headers.get('Content-Type')).toBe(`application/v${version}+json`);
    const body = await answer.json();
    const event = Array.isArray(body) ? body[0] : body;
    expect(Object.keys(event).sort()).toEqual([...fields].sort());
  }
});

test.each(['application/v9.9.9+json', 'application/v1.0.0+xml', 'text/html'])(
  'Accept: %s is refused with 406',
  async (Accept) => {
    const answer = await app.request('/api/events', { headers: { Accept } });
    expect(answer.status).toBe(406);
    expect(await answer.text()).toMatch(/^The Accept header asks for nothing/);
  },
);
