import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { catalogOf, send } from '../support/series.ts';
import {
  type CatalogJson,
  COMMON,
  createMathematics,
  createMetadataApp,
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
const putAll = (metadata: string) => send(app, 'PUT', `/api/series/${id}`, { metadata });
const read = (query: string) => readValues(app, id, query);

test('PUT /api/series/{id} changes what it knows, ignores all else and answers with all catalogs', async () => {
  const answer = await putAll(
    JSON.stringify([
      { flavor: 'foo/series', fields: [{ id: 'title', value: 'Foo' }] },
      { flavor: 'dublincore/series', label: 'A catalog without a title' },
      {
        flavor: 'dublincore/series',
        title: 'Opencast Series DublinCore',
        fields: [
          { id: 'title', value: 'Algebra' },
          { id: 'description', value: null },
          { id: 'color', value: 'red' },
          { id: 'createdBy', value: 'mallory' },
          { id: 'identifier', value: 'other' },
        ],
      },
      { flavor: 'license/series', label: 'LICENSES', fields: [{ id: 'license', value: 'CC0' }] },
    ]),
  );
  expect(answer.status, answer.text).toBe(200);
  const [license, common] = JSON.parse(answer.text) as CatalogJson[];
  expect(valuesOf(license?.fields ?? [])).toEqual({ license: 'CC0', remarks: '' });
  expect(valuesOf(common?.fields ?? [])).toEqual({
    ...mathematics(id),
    title: 'Algebra',
  });
  expect((await read(COMMON)).title).toBe('Algebra');
});

test('PUT /api/series/{id} takes the answer of GET metadata', async () => {
  await put(LICENSE, [{ id: 'license', value: 'CC0' }]);
  const before = await send(app, 'GET', path);
  expect((await putAll(before.text)).status).toBe(200);
  expect((await send(app, 'GET', path)).text).toBe(before.text);
});

test('PUT /api/series/{id} takes a catalog as it was shown that was never stored, and stores none', async () => {
  const before = await send(app, 'GET', path);
  const answer = await putAll(before.text);
  expect([answer.status, answer.text]).toEqual([200, before.text]);
  expect((await send(app, 'DELETE', `${path}${LICENSE}`)).status).toBe(404);
});

test('PUT /api/series/{id} does not empty a required field of a catalog that is stored', async () => {
  const shown = await send(app, 'GET', path);
  await put(LICENSE, [{ id: 'license', value: 'CC0' }]);
  expect(await putAll(shown.text)).toMatchObject({
    status: 400,
    text: "The series metadata field with id 'license' and the metadata type 'TEXT' is required and can not be empty!.",
  });
  expect((await read(LICENSE)).license).toBe('CC0');
});

test.each([
  ['no JSON', '[{', 'Not able to parse the event metadata: [{'],
  ['no list', '{}', 'Not able to parse the event metadata: {}'],
  [
    'an empty title',
    JSON.stringify([
      ...(JSON.parse(catalogOf({ license: 'CC0' }, 'license/series')) as unknown[]),
      ...(JSON.parse(catalogOf({ title: '' })) as unknown[]),
    ]),
    "The series metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
  ],
])('PUT /api/series/{id} refuses %s and changes nothing', async (_, metadata, message) => {
  expect(await putAll(metadata)).toMatchObject({ status: 400, text: message });
  expect(await read(LICENSE)).toEqual({ license: '', remarks: '' });
  expect((await read(COMMON)).title).toBe('Mathematics');
});
