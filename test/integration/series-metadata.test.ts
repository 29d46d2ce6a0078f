import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { catalogOf, send } from '../support/series.ts';
import {
  type CatalogJson,
  COMMON,
  createMathematics,
  createMetadataApp,
  type FieldJson,
  LICENSE,
  mathematics,
  putFields,
  readValues,
  valuesOf,
} from '../support/series-metadata.ts';

let app: TestApp;
let id: string;
let path: string;
beforeAll(async () => {
  app = await createMetadataApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  id = await createMathematics(app);
  path = `/api/series/${id}/metadata`;
});

const put = (query: string, fields: unknown) => putFields(app, id, query, fields);
const read = (query: string) => readValues(app, id, query);

test('GET metadata has all catalogs, the further ones first', async () => {
  const answer = await send(app, 'GET', path, undefined, { Accept: 'application/v1.2.0+json' });
  expect(answer).toMatchObject({ status: 200, type: 'application/v1.2.0+json' });
  const [license, common, ...more] = JSON.parse(answer.text) as CatalogJson[];
  expect(more).toEqual([]);
  expect(license).toMatchObject({ flavor: 'license/series', title: 'LICENSES', label: 'LICENSES' });
  expect(valuesOf(license?.fields ?? [])).toEqual({ license: '', remarks: '' });
  expect(common).toMatchObject({ flavor: 'dublincore/series', title: 'Opencast Series DublinCore' });
  expect(common?.fields.map((field) => [field.id, field.type, field.required, field.readOnly])).toEqual([
    ['title', 'text', true, false],
    ['subjects', 'text', false, false],
    ['description', 'text', false, false],
    ['language', 'text', false, false],
    ['rightsHolder', 'text', false, false],
    ['license', 'text', false, false],
    ['creator', 'mixed_text', false, false],
    ['contributor', 'mixed_text', false, false],
    ['publisher', 'mixed_text', false, false],
    ['createdBy', 'text', false, true],
    ['identifier', 'text', false, true],
  ]);
  expect(common?.fields[0]?.label).toBe('EVENTS.SERIES.DETAILS.METADATA.TITLE');
});

test('GET metadata?type= has the fields of one catalog; case does not matter, empty means all', async () => {
  const expected = mathematics(id);
  expect(await read(COMMON)).toEqual(expected);
  expect(await read('?type=DublinCore/Series')).toEqual(expected);
  expect(await read(LICENSE)).toEqual({ license: '', remarks: '' });
  const all = JSON.parse((await send(app, 'GET', `${path}?type=`)).text) as CatalogJson[];
  expect(all).toHaveLength(2);
});

test.each(['foo/series', 'nonsense'])('GET metadata?type=%s is 404', async (type) => {
  expect(await send(app, 'GET', `${path}?type=${type}`)).toMatchObject({
    status: 404,
    text: `Cannot find a catalog with type '${type}' for series with id '${id}'.`,
  });
});

test('a type in the path is 404', async () => {
  expect((await send(app, 'GET', `${path}/dublincore/series`)).status).toBe(404);
});

test('PUT metadata changes the given fields and answers with all catalogs', async () => {
  const answer = await put(COMMON, [
    { id: 'title', value: 'Algebra' },
    { id: 'creator', value: [] },
    { id: 'description', value: 'On groups' },
  ]);
  expect(answer).toMatchObject({ status: 200, type: 'application/v1.11.0+json' });
  const expected = {
    ...mathematics(id),
    title: 'Algebra',
    description: 'On groups',
    creator: [],
  };
  const catalogs = JSON.parse(answer.text) as CatalogJson[];
  expect(catalogs.map(({ flavor }) => flavor)).toEqual(['license/series', 'dublincore/series']);
  expect(valuesOf(catalogs[1]?.fields ?? [])).toEqual(expected);
  expect(await read(COMMON)).toEqual(expected);
});

test('subjects are written as a list or, by the name subject, as a text', async () => {
  expect((await put(COMMON, [{ id: 'subject', value: 'Logic, Sets' }])).status).toBe(200);
  expect((await read(COMMON)).subjects).toEqual(['Logic', 'Sets']);
  expect((await put(COMMON, [{ id: 'subjects', value: ['Logic, formal'] }])).status).toBe(200);
  expect((await read(COMMON)).subjects).toEqual(['Logic, formal']);
  expect((await put(COMMON, [{ id: 'subject', value: '' }])).status).toBe(200);
  expect((await read(COMMON)).subjects).toEqual([]);
});

test('all fields as they were read can be written back; read-only ones change nothing', async () => {
  const before = await send(app, 'GET', `${path}${COMMON}`);
  const fields = JSON.parse(before.text) as FieldJson[];
  const sent = fields.map((field) => (field.readOnly ? { ...field, value: 'mallory' } : field));
  expect((await put(COMMON, sent)).status).toBe(200);
  expect((await send(app, 'GET', `${path}${COMMON}`)).text).toBe(before.text);
});

test('a new title is that of the events of the series', async () => {
  const eventId = await insertEvent(app.database, { series_id: id });
  await put(COMMON, [{ id: 'title', value: 'Algebra' }]);
  expect(JSON.parse((await send(app, 'GET', `/api/events/${eventId}`)).text).series).toBe('Algebra');
});

test('a further catalog is created by its first value, changed and deleted', async () => {
  expect((await put(LICENSE, [{ id: 'license', value: 'CC0' }])).status).toBe(200);
  expect((await put(LICENSE, [{ id: 'remarks', value: 'none' }])).status).toBe(200);
  expect(await read(LICENSE)).toEqual({ license: 'CC0', remarks: 'none' });
  expect(await send(app, 'DELETE', `${path}${LICENSE}`)).toMatchObject({ status: 204, text: '' });
  expect(await read(LICENSE)).toEqual({ license: '', remarks: '' });
  expect(await send(app, 'DELETE', `${path}${LICENSE}`)).toMatchObject({
    status: 404,
    text: `Cannot find a catalog with type 'license/series' for series with id '${id}'.`,
  });
});

test('a series is created with a further catalog, which goes with it', async () => {
  const metadata = JSON.stringify([
    ...(JSON.parse(catalogOf({ title: 'Algebra' })) as unknown[]),
    ...(JSON.parse(catalogOf({ license: 'CC-BY' }, 'license/series')) as unknown[]),
  ]);
  const { text } = await send(app, 'POST', '/api/series', { metadata, acl: '[]' });
  id = (JSON.parse(text) as { identifier: string }).identifier;
  path = `/api/series/${id}/metadata`;
  expect(await read(LICENSE)).toEqual({ license: 'CC-BY', remarks: '' });
  expect((await send(app, 'DELETE', `/api/series/${id}`)).status).toBe(204);
  const left = await app.database.selectFrom('series_catalogs').select('flavor').execute();
  expect(left).toEqual([]);
});
test('updates at once are all kept', async () => {
  const fields = ['description', 'language', 'rightsHolder', 'license'];
  const answers = await Promise.all(fields.map((field) => put(COMMON, [{ id: field, value: field }])));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const after = await read(COMMON);
  expect(fields.map((field) => after[field])).toEqual(fields);
});
