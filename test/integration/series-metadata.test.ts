import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { API_ROLES } from '#access/roles/api-roles.ts';
import { ownApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, catalogOf, catalogsOf, createSeries, send } from '../support/series.ts';

type FieldJson = { id: string; value: unknown; readOnly: boolean };
type CatalogJson = { flavor: string; fields: FieldJson[] };

const LICENSE_CATALOG = `
resource: series
flavor: license/series
title: LICENSES
fields:
  - { id: license, label: LICENSE, type: text, required: true }
  - { id: remarks, label: REMARKS, type: text_long }
`;
const COMMON = '?type=dublincore/series';
const LICENSE = '?type=license/series';
const NO_LICENSE = { license: '', remarks: '' };
const CC0 = [{ id: 'license', value: 'CC0' }];
const ALGEBRA = [{ id: 'title', value: 'Algebra' }];

const folder = await mkdtemp(join(tmpdir(), 'inlet-metadata-'));
afterAll(() => rm(folder, { recursive: true }));
await writeFile(join(folder, 'license.yaml'), LICENSE_CATALOG);
const app = await ownApp(undefined, { METADATA_DIR: folder });
const reader = { Authorization: await app.account('reader', ...API_ROLES, 'ROLE_READER') };
const stranger = { Authorization: await app.account('stranger', ...API_ROLES) };

let id: string;
let path: string;
beforeEach(async () => {
  const values = { title: 'Mathematics', subjects: ['Maths'], creator: ['A', 'B'] };
  id = await createSeries(app, values, [ace('ROLE_READER')]);
  path = `/api/series/${id}/metadata`;
});

/** The values that a new series has. */
const mathematics = () => ({
  ...{ title: 'Mathematics', subjects: ['Maths'], description: '', language: '', rightsHolder: '' },
  ...{ license: '', creator: ['A', 'B'], contributor: [], publisher: [], createdBy: 'admin' },
  identifier: id,
});

const get = (query = '', headers = {}) => send(app, 'GET', path + query, undefined, headers);
const remove = (query: string, headers = {}) => send(app, 'DELETE', path + query, undefined, headers);
const put = (query: string, fields: unknown, headers = {}) =>
  send(app, 'PUT', path + query, { metadata: JSON.stringify(fields) }, headers);
const putAll = (metadata: string, headers = {}) => send(app, 'PUT', `/api/series/${id}`, { metadata }, headers);

const valuesOf = (fields: FieldJson[] = []): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [field.id, field.value]));
const catalogsIn = ({ text }: { text: string }) => JSON.parse(text) as CatalogJson[];

async function read(query: string) {
  const answer = await get(query);
  expect(answer.status, answer.text).toBe(200);
  return valuesOf(JSON.parse(answer.text));
}

describe('GET metadata', () => {
  test('GET metadata has all catalogs, the further ones first', async () => {
    const answer = await get('', { Accept: 'application/v1.2.0+json' });
    expect(answer).toMatchObject({ status: 200, type: 'application/v1.2.0+json' });
    const catalogs = catalogsIn(answer);
    expect(catalogs).toMatchObject([
      { flavor: 'license/series', title: 'LICENSES', label: 'LICENSES' },
      { flavor: 'dublincore/series', title: 'Opencast Series DublinCore' },
    ]);
    expect(catalogs.map(({ fields }) => valuesOf(fields))).toEqual([NO_LICENSE, mathematics()]);
  });

  test('GET metadata?type= has the fields of one catalog; case does not matter, empty means all', async () => {
    expect(await read(COMMON)).toEqual(mathematics());
    expect(await read('?type=DublinCore/Series')).toEqual(mathematics());
    expect(await read(LICENSE)).toEqual(NO_LICENSE);
    expect(catalogsIn(await get('?type='))).toHaveLength(2);
  });

  test.each(['foo/series', 'nonsense'])('GET metadata?type=%s is 404', async (type) => {
    const text = `Cannot find a catalog with type '${type}' for series with id '${id}'.`;
    expect(await get(`?type=${type}`)).toMatchObject({ status: 404, text });
  });
});

describe('PUT metadata', () => {
  test('PUT metadata changes the given fields and answers with all catalogs', async () => {
    const given = { title: 'Algebra', creator: [], description: 'On groups' };
    const fields = Object.entries(given).map(([name, value]) => ({ id: name, value }));
    const answer = await put(COMMON, fields);
    expect(answer).toMatchObject({ status: 200, type: 'application/v1.11.0+json' });
    const catalogs = catalogsIn(answer);
    expect(catalogs.map(({ flavor }) => flavor)).toEqual(['license/series', 'dublincore/series']);
    expect(valuesOf(catalogs[1]?.fields)).toEqual({ ...mathematics(), ...given });
    expect(await read(COMMON)).toEqual({ ...mathematics(), ...given });
  });

  test('all fields as they were read can be written back; read-only ones change nothing', async () => {
    const before = await get(COMMON);
    const fields = JSON.parse(before.text) as FieldJson[];
    const sent = fields.map((field) => (field.readOnly ? { ...field, value: 'mallory' } : field));
    expect((await put(COMMON, sent)).status).toBe(200);
    expect((await get(COMMON)).text).toBe(before.text);
  });

  test('a new title is that of the events of the series', async () => {
    const eventId = await insertEvent(app.database, { series_id: id });
    await put(COMMON, ALGEBRA);
    expect(JSON.parse((await send(app, 'GET', `/api/events/${eventId}`)).text).series).toBe('Algebra');
  });

  test('concurrent updates are all kept', async () => {
    const fields = ['description', 'language', 'rightsHolder', 'license'];
    const answers = await Promise.all(fields.map((name) => put(COMMON, [{ id: name, value: name }])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const after = await read(COMMON);
    expect(fields.map((name) => after[name])).toEqual(fields);
  });

  const NO_TITLE =
    "The series metadata field with id 'title' and the metadata type 'dublincore/series' is required and can not be empty!.";
  const NO_CATALOG = /^Cannot find a catalog with type 'foo\/series' for series with id '.+'\.$/;
  const UNKNOWN =
    /^Cannot find a metadata field with id 'color' from event with id '.+' and the metadata type 'dublincore\/series'\.$/;
  const EMPTIED = '[{"id":"description","value":"new"},{"id":"title","value":""}]';
  const COLOURED = '[{"id":"title","value":"a"},{"id":"color","value":"red"}]';
  const EMPTY = 'Unable to update metadata for series as the metadata provided is empty.';
  const TITLE = '[{"id":"title","value":"a"}]';
  // The unit tests of the parser have every fault; here is one of each kind.
  test.each<[string, string, string | undefined, number, string | RegExp]>([
    ['no metadata', COMMON, undefined, 400, EMPTY],
    ['an empty title', COMMON, EMPTIED, 400, NO_TITLE],
    ['no type', '', TITLE, 400, /^A type of catalog needs to be specified for series '.+'/],
    ['an unknown catalog', '?type=foo/series', TITLE, 404, NO_CATALOG],
    ['an unknown field', COMMON, COLOURED, 404, UNKNOWN],
  ])('PUT metadata refuses %s and changes nothing', async (_, query, metadata, status, message) => {
    const answer = await send(app, 'PUT', path + query, metadata === undefined ? {} : { metadata });
    expect(answer).toMatchObject({ status, type: 'text/plain; charset=utf-8' });
    if (typeof message === 'string') expect(answer.text).toBe(message);
    else expect(answer.text).toMatch(message);
    expect(await read(COMMON)).toEqual(mathematics());
  });
});

describe('further catalogs', () => {
  test('a further catalog is created by its first value, changed and deleted', async () => {
    expect((await put(LICENSE, CC0)).status).toBe(200);
    expect((await put(LICENSE, [{ id: 'remarks', value: 'none' }])).status).toBe(200);
    expect(await read(LICENSE)).toEqual({ license: 'CC0', remarks: 'none' });
    expect(await remove(LICENSE)).toMatchObject({ status: 204, text: '' });
    expect(await read(LICENSE)).toEqual(NO_LICENSE);
    const text = `Cannot find a catalog with type 'license/series' for series with id '${id}'.`;
    expect(await remove(LICENSE)).toMatchObject({ status: 404, text });
  });

  test('a series is created with a further catalog, which goes with it', async () => {
    const license = { license: 'CC-BY' };
    const metadata = catalogsOf({ 'dublincore/series': { title: 'Algebra' }, 'license/series': license });
    const { text } = await send(app, 'POST', '/api/series', { metadata, acl: '[]' });
    id = (JSON.parse(text) as { identifier: string }).identifier;
    path = `/api/series/${id}/metadata`;
    expect(await read(LICENSE)).toEqual({ license: 'CC-BY', remarks: '' });
    expect((await send(app, 'DELETE', `/api/series/${id}`)).status).toBe(204);
    expect(await app.database.selectFrom('series_catalogs').select('flavor').execute()).toEqual([]);
  });

  const MANDATORY = "Unable to delete mandatory metadata catalog with type 'dublincore/series' for series 'ID'";
  const NONSENSE = "Unable to parse flavor 'nonsense' it should look something like dublincore/series.";
  test.each([
    ['', 400, "A type of catalog needs to be specified for series 'ID' to delete it."],
    ['?type=nonsense', 400, NONSENSE],
    [COMMON, 403, MANDATORY],
    ['?type=foo/series', 404, "Cannot find a catalog with type 'foo/series' for series with id 'ID'."],
  ])('DELETE metadata%s is %i', async (query, status, text) => {
    expect(await remove(query)).toMatchObject({ status, text: text.replace('ID', id) });
    expect((await read(COMMON)).title).toBe('Mathematics');
  });

  test('the mandatory catalog of an unknown series cannot be deleted either: 403', async () => {
    path = '/api/series/nobody/metadata';
    expect((await remove(COMMON)).status).toBe(403);
  });
});

describe('PUT /api/series/{id}', () => {
  const isRequired = (field: string) =>
    `The series metadata field with id '${field}' and the metadata type 'TEXT' is required and can not be empty!.`;

  test('PUT /api/series/{id} changes what it knows, ignores all else and answers with all catalogs', async () => {
    const fields = Object.entries({
      ...{ title: 'Algebra', description: null, color: 'red', createdBy: 'mallory', identifier: 'other' },
    }).map(([name, value]) => ({ id: name, value }));
    const answer = await putAll(
      JSON.stringify([
        { flavor: 'foo/series', fields: [{ id: 'title', value: 'Foo' }] },
        { flavor: 'dublincore/series', label: 'A catalog without a title' },
        { flavor: 'dublincore/series', title: 'Opencast Series DublinCore', fields },
        { flavor: 'license/series', label: 'LICENSES', fields: CC0 },
      ]),
    );
    expect(answer.status, answer.text).toBe(200);
    expect(catalogsIn(answer).map((catalog) => valuesOf(catalog.fields))).toEqual([
      { license: 'CC0', remarks: '' },
      { ...mathematics(), title: 'Algebra' },
    ]);
    expect((await read(COMMON)).title).toBe('Algebra');
  });

  test('PUT /api/series/{id} takes the answer of GET metadata, and stores no catalog that never was', async () => {
    const takenBack = async () => {
      const { text } = await get();
      expect(await putAll(text)).toMatchObject({ status: 200, text });
      expect((await get()).text).toBe(text);
    };
    await takenBack();
    expect((await remove(LICENSE)).status).toBe(404);
    await put(LICENSE, CC0);
    await takenBack();
  });

  test('PUT /api/series/{id} does not empty a required field of a catalog that is stored', async () => {
    const shown = await get();
    await put(LICENSE, CC0);
    expect(await putAll(shown.text)).toMatchObject({ status: 400, text: isRequired('license') });
    expect((await read(LICENSE)).license).toBe('CC0');
  });

  test.each([
    ['no JSON', '[{', 'Not able to parse the event metadata: [{'],
    [
      'an empty title',
      catalogsOf({ 'license/series': { license: 'CC0' }, 'dublincore/series': { title: '' } }),
      isRequired('title'),
    ],
  ])('PUT /api/series/{id} refuses %s and changes nothing', async (_, metadata, text) => {
    expect(await putAll(metadata)).toMatchObject({ status: 400, text });
    expect(await read(LICENSE)).toEqual(NO_LICENSE);
    expect((await read(COMMON)).title).toBe('Mathematics');
  });
});

test('the metadata of an unknown series is 404', async () => {
  id = 'nobody';
  path = `/api/series/${id}/metadata`;
  const missing = { status: 404, text: "Cannot find a series with id 'nobody'." };
  expect(await get()).toMatchObject(missing);
  expect(await get('?type=foo/series')).toMatchObject(missing);
  expect(await put(COMMON, [{ id: 'color', value: 'red' }])).toMatchObject(missing);
  expect(await remove(LICENSE)).toMatchObject(missing);
  expect(await putAll(catalogOf({ title: 'a' }))).toMatchObject({
    status: 404,
    text: 'The resource you requested does not exist.',
  });
});

test('metadata is read with the right to read, written with the right to write', async () => {
  await put(LICENSE, CC0);
  const changes = [
    (account: object) => put(COMMON, ALGEBRA, account),
    (account: object) => putAll(catalogOf({ title: 'Changed' }), account),
    (account: object) => remove(LICENSE, account),
  ];
  expect((await get('', reader)).status).toBe(200);
  expect((await get('', stranger)).status).toBe(404);
  for (const change of changes) {
    expect(await change(reader)).toMatchObject({ status: 401, text: 'unauthorized' });
    expect((await change(stranger)).status).toBe(404);
  }
  expect((await read(COMMON)).title).toBe('Mathematics');
  expect((await read(LICENSE)).license).toBe('CC0');
});
