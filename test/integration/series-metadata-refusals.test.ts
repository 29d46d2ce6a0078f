import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { catalogOf, send } from '../support/series.ts';
import {
  COMMON,
  createMathematics,
  createMetadataApp,
  LICENSE,
  putFields,
  readValues,
} from '../support/series-metadata.ts';

let app: TestApp;
let reader: { Authorization: string };
let stranger: { Authorization: string };
let id: string;
let path: string;
beforeAll(async () => {
  app = await createMetadataApp();
  const roles = ['EDIT', 'METADATA_VIEW', 'METADATA_EDIT', 'METADATA_DELETE'].map(
    (right) => `ROLE_API_SERIES_${right}`,
  );
  reader = { Authorization: await app.account('reader', ...roles, 'ROLE_READER') };
  stranger = { Authorization: await app.account('stranger', ...roles) };
});
afterAll(() => app?.close());
beforeEach(async () => {
  id = await createMathematics(app);
  path = `/api/series/${id}/metadata`;
});

const put = (query: string, fields: unknown, headers = {}) => putFields(app, id, query, fields, headers);
const putAll = (metadata: string, headers = {}) =>
  send(app, 'PUT', `/api/series/${id}`, { metadata }, headers);
const read = (query: string) => readValues(app, id, query);

test.each<[string, string, string | undefined, number, string | RegExp]>([
  [
    'no metadata',
    COMMON,
    undefined,
    400,
    'Unable to update metadata for series as the metadata provided is empty.',
  ],
  [
    'blank metadata',
    COMMON,
    ' ',
    400,
    'Unable to update metadata for series as the metadata provided is empty.',
  ],
  ['no JSON', COMMON, '[{', 400, /^Unable to parse metadata fields as json from '\[\{' because '.+'$/],
  ['an object', COMMON, '{}', 400, /^Unable to parse metadata fields as json from '\{\}' because '.+'$/],
  [
    'no field',
    COMMON,
    '[]',
    400,
    "Unable to parse metadata fields as json from '[]' because there were no fields to update.",
  ],
  [
    'a field without an id',
    COMMON,
    '[{"value":"a"}]',
    400,
    /^One of the metadata fields is missing an id or value/,
  ],
  [
    'an empty title',
    COMMON,
    '[{"id":"description","value":"new"},{"id":"title","value":""}]',
    400,
    "The series metadata field with id 'title' and the metadata type 'dublincore/series' is required and can not be empty!.",
  ],
  [
    'no type',
    '',
    '[{"id":"title","value":"a"}]',
    400,
    /^A type of catalog needs to be specified for series '.+'/,
  ],
  [
    'an unknown catalog',
    '?type=foo/series',
    '[{"id":"title","value":"a"}]',
    404,
    /^Cannot find a catalog with type 'foo\/series' for series with id '.+'\.$/,
  ],
  [
    'an unknown field',
    COMMON,
    '[{"id":"title","value":"a"},{"id":"color","value":"red"}]',
    404,
    /^Cannot find a metadata field with id 'color' from event with id '.+' and the metadata type 'dublincore\/series'\.$/,
  ],
  ['a NUL', COMMON, '[{"id":"title","value":"a\\u0000"}]', 400, /NUL/],
])('PUT metadata refuses %s and changes nothing', async (_, query, metadata, status, message) => {
  const before = await read(COMMON);
  const answer = await send(app, 'PUT', `${path}${query}`, metadata === undefined ? {} : { metadata });
  expect(answer).toMatchObject({ status, type: 'text/plain; charset=utf-8' });
  if (typeof message === 'string') expect(answer.text).toBe(message);
  else expect(answer.text).toMatch(message);
  expect(await read(COMMON)).toEqual(before);
});

test.each<[string, number, (id: string) => string]>([
  ['', 400, (id) => `A type of catalog needs to be specified for series '${id}' to delete it.`],
  [
    '?type=nonsense',
    400,
    () => "Unable to parse flavor 'nonsense' it should look something like dublincore/series.",
  ],
  [
    COMMON,
    403,
    (id) => `Unable to delete mandatory metadata catalog with type 'dublincore/series' for series '${id}'`,
  ],
  [
    '?type=foo/series',
    404,
    (id) => `Cannot find a catalog with type 'foo/series' for series with id '${id}'.`,
  ],
])('DELETE metadata%s is %i', async (query, status, message) => {
  expect(await send(app, 'DELETE', `${path}${query}`)).toMatchObject({ status, text: message(id) });
  expect((await read(COMMON)).title).toBe('Mathematics');
});

test('the mandatory catalog of an unknown series cannot be deleted either: 403', async () => {
  const answer = await send(app, 'DELETE', `/api/series/nobody/metadata${COMMON}`);
  expect(answer.status).toBe(403);
});

test('the metadata of an unknown series is 404', async () => {
  id = 'nobody';
  path = `/api/series/${id}/metadata`;
  const missing = { status: 404, text: "Cannot find a series with id 'nobody'." };
  expect(await send(app, 'GET', path)).toMatchObject(missing);
  expect(await send(app, 'GET', `${path}?type=foo/series`)).toMatchObject(missing);
  expect(await put(COMMON, [{ id: 'color', value: 'red' }])).toMatchObject(missing);
  expect(await send(app, 'DELETE', `${path}${LICENSE}`)).toMatchObject(missing);
  expect(await putAll(catalogOf({ title: 'a' }))).toMatchObject({
    status: 404,
    text: 'The resource you requested does not exist.',
  });
});

test('metadata is read with the right to read, written with the right to write', async () => {
  await put(LICENSE, [{ id: 'license', value: 'CC0' }]);
  const change = [{ id: 'title', value: 'Changed' }];
  const refused = { status: 401, text: 'unauthorized' };
  expect((await send(app, 'GET', path, undefined, reader)).status).toBe(200);
  expect(await put(COMMON, change, reader)).toMatchObject(refused);
  expect(await putAll(catalogOf({ title: 'Changed' }), reader)).toMatchObject(refused);
  expect(await send(app, 'DELETE', `${path}${LICENSE}`, undefined, reader)).toMatchObject(refused);
  expect((await send(app, 'GET', path, undefined, stranger)).status).toBe(404);
  expect((await put(COMMON, change, stranger)).status).toBe(404);
  expect((await putAll(catalogOf({ title: 'Changed' }), stranger)).status).toBe(404);
  expect((await send(app, 'DELETE', `${path}${LICENSE}`, undefined, stranger)).status).toBe(404);
  expect((await read(COMMON)).title).toBe('Mathematics');
  expect((await read(LICENSE)).license).toBe('CC0');
});
