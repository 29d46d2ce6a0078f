import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { FieldValue } from '#metadata/catalog.ts';
import { deleteCatalog, saveCatalogs, storedCatalogs } from '#metadata/catalogs.queries.ts';
import { workerApp } from '../support/app.ts';
import { EventBench, metadataPath, type ShownField } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { createSeries, send } from '../support/series.ts';

const EPISODE = 'dublincore/episode';
const LICENSE = 'license/episode';
const bench = EventBench.forThisFile({ own: false });

/** The columns of an event that has a value in every field. */
const FULL_EVENT = {
  title: 'Lecture 1',
  description: 'Two\nlines',
  subjects: ['Maths', 'Logic, formal'],
  language: 'deu',
  rights_holder: 'The university',
  license: 'CC-BY',
  presenters: ['Ada L.', 'Charles B.'],
  contributors: ['Grace H.'],
  location: 'Hall 1',
  source: 'Camera',
  publisher: 'Press',
  start_date: new Date('2026-04-13T08:15:42.123Z'),
  created: new Date('2026-04-13T08:15:42Z'),
  duration: 5_400_500,
};

const event = (values: Parameters<EventBench['event']>[0] = {}) => bench.event({ ...FULL_EVENT, ...values });
const get = (id: string, type?: string, headers = {}) =>
  send(bench.app, 'GET', metadataPath(id, type), undefined, headers);
const put = bench.putMetadata.bind(bench);
/** Puts fields that must be taken, with their values. */
async function change(id: string, fields: Record<string, unknown>, type?: string, account = {}) {
  const sent = Object.entries(fields).map(([id, value]) => ({ id, value }));
  expect(await put(id, sent, type, account)).toMatchObject({ status: 204, text: '' });
}

describe('GET /api/events/{id}/metadata', () => {
  test('200 with all catalogs: those of the configuration first, also without values, the default one last', async () => {
    const headers = { ...bench.reader, Accept: 'application/v1.3.0+json' };
    const id = await event();
    const answer = await get(id, undefined, headers);
    expect(answer).toMatchObject({ status: 200, type: 'application/v1.3.0+json' });
    const [license, episode, ...others] = JSON.parse(answer.text);
    expect(others).toEqual([]);
    expect(license).toMatchObject({ flavor: LICENSE, title: 'LICENSE.TITLE', label: 'LICENSE.TITLE' });
    expect(license.fields).toMatchObject([
      { id: 'licensor', value: '' },
      { id: 'permits', value: [] },
    ]);
    const title = 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE';
    expect(episode).toMatchObject({ flavor: EPISODE, title, label: title });
    expect(episode.fields).toHaveLength(17);
    expect(episode.fields[0]).toMatchObject({ id: 'title', value: 'Lecture 1', type: 'text' });
    expect((await get(id, '', headers)).text).toBe(answer.text);
  });

  test('while a workflow runs the catalogs are locked and every field is read-only', async () => {
    const id = await event({ processing_state: 'RUNNING' });
    const catalogs = await bench.read<{ locked?: string; fields: ShownField[] }[]>(metadataPath(id));
    const locked = 'EVENTS.EVENTS.DETAILS.METADATA.LOCKED.RUNNING';
    expect(catalogs.map((catalog) => catalog.locked)).toEqual([locked, locked]);
    const fields = [...catalogs.flatMap((catalog) => catalog.fields), ...(await bench.fields(id))];
    expect(fields.every(({ readOnly }) => readOnly)).toBe(true);
    const paused = await get(await event({ processing_state: 'PAUSED' }));
    expect(paused.text).not.toContain('locked');
  });
});

describe('GET /api/events/{id}/metadata?type=', () => {
  test('200 with the fields of that catalog and their values', async () => {
    const id = await event();
    expect(await bench.values(id)).toEqual({
      ...{ title: 'Lecture 1', subjects: ['Maths', 'Logic, formal'], description: 'Two\nlines' },
      ...{ language: 'deu', rightsHolder: 'The university', license: 'CC-BY', isPartOf: '' },
      ...{ creator: ['Ada L.', 'Charles B.'], contributor: ['Grace H.'], location: 'Hall 1' },
      ...{ startDate: '2026-04-13', startTime: '08:15', duration: '01:30:00', source: 'Camera' },
      ...{ created: '2026-04-13T08:15:42.000Z', publisher: 'Press', identifier: id },
    });
  });

  test('the flavor may be spelled in any case of letters', async () => {
    const fields = await bench.fields(await event(), 'License/EPISODE');
    expect(fields.map(({ id }) => id)).toEqual(['licensor', 'permits']);
  });
});

test('withmetadata adds the catalogs to lists and single events, the start as one instant', async () => {
  const id = await event();
  type Shown = { metadata: { flavor: string; fields: ShownField[] }[] };
  const [listed] = await bench.read<Shown[]>(`/api/events?withmetadata=true&filter=identifier:${id}`);
  expect(listed?.metadata.map(({ flavor }) => flavor)).toEqual([LICENSE, EPISODE]);
  const single = await bench.read<Shown>(`/api/events/${id}?withmetadata=TRUE`);
  const shown = Object.fromEntries(single.metadata.at(-1)?.fields.map(({ id, value }) => [id, value]) ?? []);
  expect(shown).toMatchObject({ startDate: '2026-04-13T08:15:42.123Z' });
  expect(shown).not.toHaveProperty('startTime');
  expect(await bench.read(`/api/events/${id}?withmetadata=1`)).not.toHaveProperty('metadata');
});

describe('PUT /api/events/{id}/metadata?type=', () => {
  test('204; fields that are not listed stay as they are', async () => {
    const id = await event();
    const before = await bench.values(id);
    await change(id, { title: 'Renamed', creator: [] });
    expect(await bench.values(id)).toEqual({ ...before, title: 'Renamed', creator: [] });
    expect(await bench.version(id)).toBe(1);
  });

  test('every field can be changed, also while a workflow runs', async () => {
    const isPartOf = await createSeries(bench.app, {}, []);
    const id = await event({ processing_state: 'RUNNING' });
    const wanted = {
      ...{ title: 'T', subjects: ['a', 'b'], description: 'D', language: 'eng', rightsHolder: 'R' },
      ...{ license: 'CC0', isPartOf, creator: ['C'], contributor: ['D'], location: 'L', source: 'S' },
      ...{ startDate: '2027-01-31', startTime: '22:22', duration: '00:00:07' },
    };
    await change(id, { ...wanted, startTime: '22:22:00Z' });
    expect(await bench.values(id)).toMatchObject(wanted);
    expect(await bench.read(`/api/events/${id}`)).toMatchObject({
      start: '2027-01-31T22:22:00Z',
      created: '2027-01-31T22:22:00Z',
      duration: 7000,
      is_part_of: isPartOf,
      series: 'Mathematics',
    });
    await change(id, { isPartOf: '' });
    expect((await bench.values(id)).isPartOf).toBe('');
  });

  test('an event counts as created when it starts, from the time its start is changed', async () => {
    const id = await event({ created: new Date('2020-01-01T00:00:00Z') });
    const shown = async () => (await bench.read(`/api/events/${id}`)).created;
    await change(id, { title: 'Renamed' });
    expect(await shown()).toBe('2020-01-01T00:00:00Z');
    await change(id, { startDate: '2027-02-28' });
    expect(await shown()).toBe('2027-02-28T08:15:42Z');
  });

  test.each([
    [{ startTime: '08:15' }, '2026-04-13T08:15:42.123Z'],
    [{ startDate: '2027-02-28T10:11:12.130Z' }, '2027-02-28T10:11:12.130Z'],
    [{ startDate: '2027-02-28', startTime: '10:00' }, '2027-02-28T10:00:00.000Z'],
    [{ startDate: '2026-02-30', startTime: 'noon' }, '2026-04-13T08:15:42.123Z'],
  ])('%j makes the start %s', async (sent, start) => {
    const id = await event();
    await change(id, sent);
    const row = bench.app.database.selectFrom('events').select('start_date').where('id', '=', id);
    expect((await row.executeTakeFirstOrThrow()).start_date.toISOString()).toBe(start);
  });

  test('the complete list of GET can be written back, read-only fields included, and changes nothing', async () => {
    const series_id = await createSeries(bench.app);
    for (const id of [await event({ series_id }), await event({ duration: null, series_id: 'gone' })]) {
      const before = await traceOf(bench.app, id);
      expect(await put(id, await bench.fields(id))).toMatchObject({ status: 204 });
      type Shown = { metadata: { fields: ShownField[] }[] };
      const { metadata } = await bench.read<Shown>(`/api/events/${id}?withmetadata=true`);
      expect(await put(id, metadata.at(-1)?.fields)).toMatchObject({ status: 204 });
      expect(await traceOf(bench.app, id)).toEqual(before);
    }
  });

  test('a catalog of the configuration keeps the fields that are not listed', async () => {
    const id = await event();
    await change(id, { licensor: 'Ada' }, 'LICENSE/episode');
    await change(id, { permits: ['copy', 'mix'] }, LICENSE);
    expect(await bench.values(id, LICENSE)).toEqual({ licensor: 'Ada', permits: ['copy', 'mix'] });
    expect(await bench.version(id)).toBe(2);
    expect((await put(id, await bench.fields(id, LICENSE), LICENSE)).status).toBe(204);
    expect(await bench.version(id)).toBe(2);
  });

  test('user names among the presenters become the names of the people', async () => {
    const username = `grace-${await event()}`;
    const account = { username, name: 'Grace H.', password_hash: '' };
    await bench.app.database.insertInto('accounts').values(account).execute();
    const id = await event();
    await change(id, { creator: [username, 'somebody'] });
    expect((await bench.values(id)).creator).toEqual(['Grace H.', 'somebody']);
  });

  test.each([
    ['no JSON', '{', "Unable to parse metadata fields as json from '{'"],
    [
      'an entry that itself says it is required',
      '[{"id":"title","value":"","required":true}]',
      "One of the metadata fields is missing an id or value. The id was 'title' and the value was ''.",
    ],
  ])('400 for %s, before the event is looked for', async (_name, metadata, text) => {
    expect(await put('nowhere', metadata)).toMatchObject({ status: 400, text });
  });

  test.each([
    ['title', EPISODE],
    ['licensor', LICENSE],
  ])('400 for the required field %s that is empty', async (id, type) => {
    const text = `The event metadata field with id '${id}' and the metadata type '${type}' is required and can not be empty!.`;
    expect(await put(await event(), [{ id, value: ' ' }], type)).toMatchObject({ status: 400, text });
  });

  test.each([
    ['colour', 'red', 404],
    ['duration', '-1', 400],
  ])('nothing is written when the field %s cannot take %s', async (field, value, status) => {
    const id = await event();
    const before = await traceOf(bench.app, id);
    const title = { id: 'title', value: 'Renamed' };
    const answer = await put(id, [title, { id: field, value }]);
    expect(answer).toMatchObject({ status, text: expect.stringContaining(`'${field}'`) });
    expect(await traceOf(bench.app, id)).toEqual(before);
  });
});

describe('DELETE /api/events/{id}/metadata?type=', () => {
  const remove = (id: string, type?: string) => send(bench.app, 'DELETE', metadataPath(id, type));

  test('204; all fields and values of the catalog go', async () => {
    const id = await event();
    await change(id, { licensor: 'Ada' }, LICENSE);
    expect(await remove(id, 'License/Episode')).toMatchObject({ status: 204, text: '' });
    expect(await bench.values(id, LICENSE)).toEqual({ licensor: '', permits: [] });
    expect(await bench.version(id)).toBe(2);
  });

  test.each([LICENSE, 'a/b'])('404 for %s, which the event does not have', async (type) => {
    const id = await event();
    const text = `Cannot find a catalog with flavor '${type}' for event with id '${id}'.`;
    expect(await remove(id, type)).toMatchObject({ status: 404, text });
    expect(await bench.version(id)).toBe(0);
  });

  test.each([EPISODE, 'DublinCore/Episode'])('403 for %s', async (type) => {
    const id = await event();
    const text = `Unable to delete mandatory metadata catalog with type '${type}' for event '${id}'`;
    expect(await remove(id, type)).toMatchObject({ status: 403, text });
  });
});

const TITLE = { metadata: '[{"id":"title","value":"x"}]' };

test.each([
  ['GET', 'episode', undefined],
  ['GET', '/', undefined],
  ['GET', 'a/b/c', undefined],
  ['GET', 'dublincore/', undefined],
  ['PUT', undefined, TITLE],
  ['PUT', 'episode', TITLE],
  ['DELETE', undefined, undefined],
  ['DELETE', 'episode', undefined],
])('%s with the type %s, which is no flavor, is 400', async (method, type, body) => {
  const text = `Unable to parse type '${type ?? ''}' as a flavor so unable to find the matching catalog.`;
  const answer = await send(bench.app, method, metadataPath(await event(), type), body);
  expect(answer).toMatchObject({ status: 400, text });
});

test.each([
  ['GET', undefined],
  ['PUT', TITLE],
])('%s of a catalog that is not configured is 404', async (method, body) => {
  const id = await event();
  const text = `Cannot find a catalog with type 'a/b' for event with id '${id}'.`;
  expect(await send(bench.app, method, metadataPath(id, 'a/b'), body)).toMatchObject({ status: 404, text });
});

test.each([
  ['GET', undefined, undefined],
  ['GET', 'no flavor', undefined],
  ['PUT', 'no flavor', { metadata: '[{"id":"colour","value":"x"}]' }],
  ['DELETE', 'no flavor', undefined],
  ['DELETE', EPISODE, undefined],
])('%s of type %s is 404 for an event that is not there or must not be seen', async (method, type, body) => {
  for (const id of ['nowhere', await event()]) {
    const answer = await send(bench.app, method, metadataPath(id, type), body, bench.stranger);
    expect(answer).toMatchObject({ status: 404, text: `Cannot find an event with id '${id}'.` });
  }
});

test('the right to read alone changes nothing: 401', async () => {
  const id = await event();
  await change(id, { licensor: 'Ada' }, LICENSE);
  const refused = { status: 401, text: 'unauthorized' };
  expect(await put(id, [{ id: 'title', value: 'x' }], EPISODE, bench.reader)).toMatchObject(refused);
  const removed = await send(bench.app, 'DELETE', metadataPath(id, LICENSE), undefined, bench.reader);
  expect(removed).toMatchObject({ status: 401 });
  expect(await bench.values(id, LICENSE)).toMatchObject({ licensor: 'Ada' });
});

describe.each(['events', 'series'] as const)('stored catalogs of %s', (resource) => {
  const values = (fields: Record<string, FieldValue>) => new Map(Object.entries(fields));
  const make = () => (resource === 'events' ? event() : createSeries(bench.app));
  const save = (id: string, fields: Record<string, FieldValue>, flavor = 'license/any') =>
    bench.app.database
      .transaction()
      .execute((trx) => saveCatalogs(trx, resource, id, new Map([[flavor, values(fields)]])));
  const remove = (id: string) =>
    bench.app.database.transaction().execute((trx) => deleteCatalog(trx, resource, id, 'license/any'));
  const stored = (...ids: string[]) => storedCatalogs(bench.app.database, resource, ids);

  test('keep the fields that are not given', async () => {
    const id = await make();
    await save(id, { a: 'one', b: ['x', 'y'] });
    await save(id, { a: '', c: 'it\'s \\ "new"' });
    const kept = values({ a: '', b: ['x', 'y'], c: 'it\'s \\ "new"' });
    expect(await stored(id)).toEqual(new Map([[id, new Map([['license/any', kept]])]]));
  });

  test('belong to one of them, and are removed alone', async () => {
    const [first, second, third] = [await make(), await make(), await make()];
    await save(first, { a: '1' });
    await save(first, { a: '2' }, 'other/any');
    await save(second, { a: '3' });
    const other = new Map([['other/any', values({ a: '2' })]]);
    const expected = new Map([
      [first, new Map([['license/any', values({ a: '1' })], ...other])],
      [second, new Map([['license/any', values({ a: '3' })]])],
      [third, new Map()],
    ]);
    expect(await stored(first, second, third)).toEqual(expected);
    expect([await remove(first), await remove(first)]).toEqual([true, false]);
    expect(await stored(first, second, third)).toEqual(expected.set(first, other));
    expect(await stored()).toEqual(new Map());
  });
});

describe('GET /api/listproviders', async () => {
  const METADATA_DIR = fileURLToPath(new URL('../../docs/metadata/', import.meta.url));
  const app = await workerApp({ METADATA_DIR });
  const read = async (path: string) => {
    const { status, text } = await send(app, 'GET', `/api/listproviders/${path}`);
    expect(status).toBe(200);
    return JSON.parse(text);
  };
  const keys = async (path: string) => Object.keys(await read(path));

  test('has the names of the lists, and the lists of the site', async () => {
    expect(await read('providers.json')).toEqual([['LICENSES', 'LANGUAGES', 'AUDIENCES']]);
    const audiences = { members: 'AUDIENCES.MEMBERS', public: 'AUDIENCES.PUBLIC' };
    expect(await read('AUDIENCES.json')).toEqual(audiences);
  });

  test('has licenses with label and order as a JSON text, and languages by three-letter codes', async () => {
    const licenses = await read('LICENSES.json');
    const versions = ['', '-SA', '-ND', '-NC', '-NC-SA', '-NC-ND'].map((version) => `CC-BY${version}`);
    expect(Object.keys(licenses)).toEqual(['ALLRIGHTS', 'CC0', ...versions]);
    expect(licenses['CC-BY']).toBe('{"label":"EVENTS.LICENSE.CCBY","order":2,"selectable":true}');
    const languages: Record<string, string> = await read('LANGUAGES.json');
    expect(languages).toMatchObject({ deu: 'LANGUAGES.GERMAN', eng: 'LANGUAGES.ENGLISH' });
    expect(Object.keys(languages).length).toBeGreaterThanOrEqual(30);
    for (const code of Object.keys(languages)) expect(code).toMatch(/^[a-z]{3}$/);
    expect(new Set(Object.values(languages)).size).toBe(Object.keys(languages).length);
  });

  test('limit and offset cut a page, a limit of 0 is none, and a filter comes before that', async () => {
    expect(await keys('LICENSES.json?limit=2&offset=1')).toEqual(['CC0', 'CC-BY']);
    expect(await keys('LICENSES.json?limit=0&offset=6')).toEqual(['CC-BY-NC-SA', 'CC-BY-NC-ND']);
    expect(await read('LICENSES.json?offset=100')).toEqual({});
    expect(await keys('LICENSES.json?filter=-nc&limit=1&offset=1')).toEqual(['CC-BY-NC-SA']);
    expect(await keys('LANGUAGES.json?filter=english')).toEqual(['eng']);
    expect(await read('LANGUAGES.json?filter=%25')).toEqual({});
    expect((await send(app, 'GET', '/api/listproviders/LICENSES.json?limit=-1')).status).toBe(400);
  });

  test.each(['NOBODY.json', 'LICENSES', 'licenses.json', '__proto__.json', '..%2fLICENSES.json'])(
    '%s is 404 with an empty text',
    async (path) => {
      const answer = await send(app, 'GET', `/api/listproviders/${path}`);
      expect(answer).toMatchObject({ status: 404, type: 'text/plain; charset=utf-8', text: '' });
    },
  );
});
