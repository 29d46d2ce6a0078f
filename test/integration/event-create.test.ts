import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, created } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { licenseCatalog, sendForm } from '../support/event-writes.ts';
import { eventFields, field, file, form, type Part } from '../support/form.ts';
import { ace, catalogOf, createSeries, send } from '../support/series.ts';

let app: TestApp;
let remove: () => Promise<void>;
let author: { Authorization: string };
beforeAll(async () => {
  const folder = await licenseCatalog();
  remove = folder.remove;
  app = await createTestApp((storage) => storage, { METADATA_DIR: folder.dir });
  author = { Authorization: await app.account('author', 'ROLE_API_EVENTS_CREATE', 'ROLE_AUTHOR') };
});
afterAll(async () => {
  await app?.close();
  await remove?.();
});

const create = (parts: readonly Part[], headers: Record<string, string> = {}) =>
  sendForm(app, '/api/events', parts, headers);

async function createdWith(parts: readonly Part[]): Promise<string> {
  const { type, body } = form(parts);
  return created(
    await app.request('/api/events', { method: 'POST', headers: { 'Content-Type': type }, body }),
  );
}

async function metadata(id: string, type = 'dublincore/episode'): Promise<Record<string, unknown>> {
  const { text } = await send(app, 'GET', `/api/events/${id}/metadata?type=${type}`);
  return Object.fromEntries(
    JSON.parse(text).map(({ id, value }: { id: string; value: unknown }) => [id, value]),
  );
}

const [acl, , processing] = eventFields() as [Part, Part, Part];
const withCatalogs = (...catalogs: string[]) => [
  acl,
  field('metadata', JSON.stringify(catalogs.flatMap((catalog) => JSON.parse(catalog)))),
  processing,
];
const episode = (values: Record<string, unknown>) => catalogOf(values, 'dublincore/episode');

test.each([
  ['[]', false],
  ['null', true],
])('with the ACL %s the series of a new event opens it: %s', async (list, opens) => {
  const isPartOf = await createSeries(app, {}, [ace('ROLE_READER')]);
  const [, ...rest] = eventFields({ metadata: { isPartOf } });
  const id = await createdWith([field('acl', list), ...rest]);
  const headers = { 'X-RUN-WITH-ROLES': 'ROLE_READER' };
  const { status } = await send(app, 'GET', `/api/events/${id}`, undefined, headers);
  expect(status).toBe(opens ? 200 : 404);
  const { text } = await send(app, 'GET', `/api/events/${id}/acl`);
  expect(JSON.parse(text)).toEqual(opens ? [ace('ROLE_READER')] : []);
});

test('further catalogs are stored with the event', async () => {
  const id = await createdWith(
    withCatalogs(
      catalogOf({ licensor: 'Ada', permits: ['copy'] }, 'License/Episode'),
      episode({ title: 'Lecture' }),
    ),
  );
  expect(await metadata(id, 'license/episode')).toEqual({ licensor: 'Ada', permits: ['copy'] });
});

test('a title may be missing, but not be empty', async () => {
  const id = await createdWith(withCatalogs(episode({ description: 'No title' })));
  expect(await metadata(id)).toMatchObject({ title: '', description: 'No title' });
  const refused = await create(withCatalogs(episode({ title: ' ' })));
  expect(refused).toMatchObject({
    status: 400,
    text: "The event metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
  });
});

test('a required field of a further catalog must not be empty either', async () => {
  expect(
    await create(withCatalogs(episode({ title: 'x' }), catalogOf({ licensor: '' }, 'license/episode'))),
  ).toMatchObject({
    status: 400,
    text: "The event metadata field with id 'licensor' and the metadata type 'TEXT' is required and can not be empty!.",
  });
});

test.each([
  [{ startDate: '2026-04-13', startTime: '11:11:00Z' }, '2026-04-13T11:11:00Z'],
  [{ startDate: '2026-04-13', startTime: '11:11' }, '2026-04-13T11:11:00Z'],
  [{ startDate: '2026-04-13' }, '2026-04-13T00:00:00Z'],
  [{ startDate: '2026-04-13T09:30:15Z' }, '2026-04-13T09:30:15Z'],
])('%j starts and is created at %s', async (values, start) => {
  const id = await createdWith(withCatalogs(episode({ title: 'Lecture', ...values })));
  const { text } = await send(app, 'GET', `/api/events/${id}`);
  expect(JSON.parse(text)).toMatchObject({ start, created: start });
});

test('the day of creation may be given, and is refused when it is none', async () => {
  const values = { title: 'Lecture', startDate: '2026-04-13', created: '2019-12-31T23:30:00.000-01:00' };
  const id = await createdWith(withCatalogs(episode(values)));
  const { text } = await send(app, 'GET', `/api/events/${id}`);
  expect(JSON.parse(text)).toMatchObject({ start: '2026-04-13T00:00:00Z', created: '2020-01-01T00:30:00Z' });
  for (const created of ['soon', '0001-01-01T00:00:00+02:00']) {
    const refused = await create(withCatalogs(episode({ title: 'x', created })));
    expect(refused.status, refused.text).toBe(400);
    expect(refused.text).toContain(`the value of 'created' is "${created}"`);
  }
});

test.each(['.', '..', 'a b', 'ü'])(
  'the identifier "%s" is refused: no address could hold it',
  async (identifier) => {
    const refused = await create(withCatalogs(episode({ title: 'x', identifier })));
    expect(refused.status, refused.text).toBe(400);
    expect(refused.text).toContain(`the value of 'identifier' is "${identifier}"`);
  },
);

test.each([undefined, null, {}])(
  'a workflow with the configuration %j takes its defaults',
  async (configuration) => {
    const [acl, metadata] = eventFields() as [Part, Part];
    const processing = JSON.stringify({ workflow: 'schedule-and-upload', configuration });
    await createdWith([acl, metadata, field('processing', processing)]);
  },
);

test('a series that must not be seen is answered like one that does not exist, and nothing stays', async () => {
  const hidden = await createSeries(app, {}, [ace('ROLE_OTHER')]);
  const before = await counts(app);
  for (const series of [hidden, 'nowhere']) {
    const parts = [
      ...withCatalogs(episode({ title: 'x', isPartOf: series })),
      file('presenter', 'a.mp4', bytes(1000)),
    ];
    expect(await create(parts, author)).toMatchObject({
      status: 400,
      text: `Unable to retrieve series dublincore catalog for the series ${series}`,
    });
  }
  expect(await counts(app)).toEqual(before);
});

test('a series that may be read can be joined', async () => {
  const open = await createSeries(app, {}, [ace('ROLE_AUTHOR')]);
  const answer = await create(withCatalogs(episode({ title: 'x', isPartOf: open })), author);
  expect(answer.status, answer.text).toBe(201);
});

test('user names among the presenters become the names of the people', async () => {
  await app.database
    .insertInto('accounts')
    .values({ username: 'grace', name: 'Grace H.', password_hash: '' })
    .execute();
  const id = await createdWith(withCatalogs(episode({ title: 'x', creator: ['grace', 'author', 'Ada'] })));
  expect((await metadata(id)).creator).toEqual(['Grace H.', 'author', 'Ada']);
});

test('version 1.0.0 does not know the part scheduling and ignores it', async () => {
  const parts = [...eventFields(), field('scheduling', '{')];
  expect((await create(parts, { Accept: 'application/v1.0.0+json' })).status).toBe(201);
  expect((await create(parts, { Accept: 'application/v1.1.0+json' })).status).toBe(400);
});
