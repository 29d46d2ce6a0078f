import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { field, form } from '../support/form.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, catalogOf, createSeries, send } from '../support/series.ts';

const ROLES = ['VIEW', 'CREATE', 'EDIT', 'DELETE'].map((right) => `ROLE_API_SERIES_${right}`);
const METADATA = catalogOf({ title: 'Mathematics' });

let app: TestApp;
let ada: { Authorization: string };
let bob: { Authorization: string };
beforeAll(async () => {
  app = await createTestApp();
  ada = { Authorization: await app.account('ada', ...ROLES, 'ROLE_ADA') };
  bob = { Authorization: await app.account('bob', ...ROLES, 'ROLE_BOB') };
});
afterAll(() => app?.close());

const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send(app, 'POST', '/api/series', fields, headers);

async function read(id: string, query = '', headers: Record<string, string> = {}) {
  const answer = await send(app, 'GET', `/api/series/${id}${query}`, undefined, headers);
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text) as Record<string, unknown>;
}

const seriesCount = async () => (await app.database.selectFrom('series').select('id').execute()).length;

test('POST /api/series answers 201 with Location and the identifier', async () => {
  const answer = await post({ metadata: METADATA, acl: '[]' }, { Accept: 'application/v1.5.0+json' });
  const { identifier } = JSON.parse(answer.text) as { identifier: string };
  expect(answer).toMatchObject({
    status: 201,
    type: 'application/v1.5.0+json',
    location: `http://inlet.test/api/series/${identifier}`,
    text: JSON.stringify({ identifier }),
  });
});

test('a series is created from a multipart form as well', async () => {
  const { type, body } = form([field('metadata', METADATA), field('acl', '[]')]);
  const answer = await app.request('/api/series', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
  expect(answer.status).toBe(201);
});

test('acl may be left out, and a title too', async () => {
  const answer = await post({ metadata: catalogOf({ subject: 'Maths, Logic' }) });
  expect(answer.status).toBe(201);
  const { identifier } = JSON.parse(answer.text) as { identifier: string };
  expect(await read(identifier, '?withacl=true')).toMatchObject({
    title: '',
    subjects: ['Maths', 'Logic'],
    acl: [],
  });
});

test('a theme becomes the property theme; a blank one is none', async () => {
  const properties = async (theme: string) => {
    const { text } = await post({ metadata: METADATA, theme });
    const { identifier } = JSON.parse(text) as { identifier: string };
    return (await send(app, 'GET', `/api/series/${identifier}/properties`)).text;
  };
  expect(await properties(' 01234 ')).toBe('{"theme":"1234"}');
  expect(await properties(' ')).toBe('{}');
});

test.each<[string, Record<string, string>, string | RegExp]>([
  ['no metadata', { acl: '[]' }, "Required parameter 'metadata' is missing or invalid"],
  ['blank metadata', { metadata: ' ' }, "Required parameter 'metadata' is missing or invalid"],
  ['metadata that is no JSON', { metadata: '[{' }, /^Unable to parse metadata because '.+'$/],
  [
    'a catalog without a flavor',
    { metadata: '[{"fields":[]}]' },
    'Unable to create new series as no flavor was given for one of the metadata collections',
  ],
  [
    'an unknown flavor',
    { metadata: catalogOf({}, 'foo/series') },
    "Unable to find an SeriesCatalogUIAdapter with Flavor 'foo/series'",
  ],
  [
    'an unknown field',
    { metadata: catalogOf({ color: 'red' }) },
    "Cannot find a metadata field with id 'color' from Catalog with Flavor 'dublincore/series'.",
  ],
  [
    'createdBy, which only answers have',
    { metadata: catalogOf({ createdBy: 'eve' }) },
    "Cannot find a metadata field with id 'createdBy' from Catalog with Flavor 'dublincore/series'.",
  ],
  [
    'subjects that are no list',
    { metadata: catalogOf({ subjects: 'Maths' }) },
    /^Unable to parse the 'subjects' metadata array field because: .+/,
  ],
  [
    'an empty title',
    { metadata: catalogOf({ title: ' ' }) },
    "The series metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
  ],
  ['an ACL that is no JSON', { metadata: METADATA, acl: '[' }, /^Unable to parse acl '\[' because '.+'$/],
  [
    'an ACL entry without allow',
    { metadata: METADATA, acl: '[{"action":"read","role":"ROLE_A"}]' },
    "One of the access control elements is missing a property. The action was 'read', allow was '' and the role was 'ROLE_A'",
  ],
  [
    'a theme that is no number',
    { metadata: METADATA, theme: 'dark' },
    "Unable to parse the theme id 'dark' into a number",
  ],
  [
    'an identifier that no path can hold',
    { metadata: catalogOf({ identifier: '../a' }) },
    /^Unable to parse metadata because 'the value of 'identifier' is "\.\.\/a"; allowed is 1 to 255 letters/,
  ],
  ['an identifier of dots', { metadata: catalogOf({ identifier: '..' }) }, /the value of 'identifier' is/],
  [
    'an identifier that is an endpoint',
    { metadata: catalogOf({ identifier: 'series.json' }) },
    /the value of 'identifier' is/,
  ],
  ['a NUL in the title', { metadata: catalogOf({ title: 'a\0' }) }, /holds a NUL character/],
  [
    'a title that is too long',
    { metadata: catalogOf({ title: 'a'.repeat(2001) }) },
    /longer than 2000 bytes/,
  ],
  [
    'too many subjects',
    { metadata: catalogOf({ subjects: Array(10_000).fill('a') }) },
    /has more than 1000 items/,
  ],
])('POST /api/series refuses %s and creates nothing', async (_, fields, message) => {
  const before = await seriesCount();
  const answer = await post(fields);
  expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
  if (typeof message === 'string') expect(answer.text).toBe(message);
  else expect(answer.text).toMatch(message);
  expect(await seriesCount()).toBe(before);
});

test('the identifier in the metadata is that of the series', async () => {
  const identifier = `chosen-${randomUUID()}`;
  expect(await createSeries(app, { identifier })).toBe(identifier);
});

test('an identifier that is taken is not written to: 409 for its writer, 401 for all others', async () => {
  const identifier = `taken-${randomUUID()}`;
  await createSeries(app, { identifier, title: 'First' }, [ace('ROLE_ADA', 'write'), ace('ROLE_BOB')]);
  const again = { metadata: catalogOf({ identifier, title: 'Second' }), acl: '[]' };
  const own = await post(again, ada);
  expect(own).toMatchObject({
    status: 409,
    text: `A series with the identifier '${identifier}' exists already.`,
  });
  expect(await post(again, bob)).toMatchObject({ status: 401, text: 'unauthorized' });
  expect(await read(identifier, '?withacl=true')).toMatchObject({
    title: 'First',
    acl: [ace('ROLE_ADA', 'write'), ace('ROLE_BOB')],
  });
});

test('of several requests for one identifier one gets it', async () => {
  const metadata = catalogOf({ identifier: `race-${randomUUID()}` });
  const answers = await Promise.all(Array.from({ length: 6 }, () => post({ metadata })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
});

test('the identifier of a deleted series gives nobody its events', async () => {
  const seriesId = await createSeries(app, {}, [ace('ROLE_ADA'), ace('ROLE_ADA', 'write')]);
  const eventId = await insertEvent(app.database, { series_id: seriesId });
  expect((await send(app, 'DELETE', `/api/series/${seriesId}`)).status).toBe(204);
  const acl = JSON.stringify([ace('ROLE_BOB'), ace('ROLE_BOB', 'write')]);
  const again = { metadata: catalogOf({ identifier: seriesId, title: 'Mine' }), acl };
  expect(await post(again, bob)).toMatchObject({ status: 401, text: 'unauthorized' });
  expect((await send(app, 'GET', `/api/series/${seriesId}`)).status).toBe(404);
  expect((await post(again)).status).toBe(201);
  const event = JSON.parse((await send(app, 'GET', `/api/events/${eventId}`)).text);
  expect(event).toMatchObject({ series: 'Mine', is_part_of: seriesId });
});

test('who creates a series has the rights its ACL gives, and no others', async () => {
  const { text } = await post({ metadata: METADATA, acl: JSON.stringify([ace('ROLE_BOB')]) }, ada);
  const path = `/api/series/${(JSON.parse(text) as { identifier: string }).identifier}`;
  expect((await send(app, 'GET', path, undefined, ada)).status).toBe(404);
  expect((await send(app, 'GET', path, undefined, bob)).status).toBe(200);
});

test('an account without the role may not create a series: 403', async () => {
  const Authorization = await app.account('eve', 'ROLE_API_SERIES_VIEW');
  expect((await post({ metadata: METADATA }, { Authorization })).status).toBe(403);
});

test('the same Idempotency-Key creates one series', async () => {
  const key = { 'Idempotency-Key': randomUUID() };
  const before = await seriesCount();
  const first = await post({ metadata: METADATA }, key);
  expect(await post({ metadata: METADATA }, key)).toEqual(first);
  expect(await seriesCount()).toBe(before + 1);
  expect((await post({ metadata: catalogOf({ title: 'Other' }) }, key)).status).toBe(422);
});
