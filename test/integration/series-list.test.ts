import { describe, expect, test } from 'vitest';
import { ownApp } from '../support/app.ts';
import { follow, readPage, refusal } from '../support/lists.ts';

const OLD = { Accept: 'application/v1.0.0+json' };

const app = await ownApp();
const at = (day: number) => new Date(Date.UTC(2026, 0, day, 12));
const rows = [
  {
    ...{ id: 'a', created: at(1), title: 'Zoology: birds', description: 'About birds', creator: 'moodle' },
    ...{ subjects: ['Bio', 'Art'], language: 'deu', license: 'CC-BY', rights_holder: 'Uni' },
    ...{ organizers: ['Eve', 'Adam'], contributors: ['Carl'], publishers: ['Press'] },
  },
  {
    ...{ id: 'b', created: at(2), title: 'äther', subjects: ['Art'] },
    ...{ organizers: ['Adam'], contributors: ['Dora'] },
  },
  { id: 'c', created: at(3), title: 'Bach', creator: 'ilias', language: 'deu' },
];
await app.database.insertInto('series').values(rows).execute();
const entry = { role: 'ROLE_R', action: 'read', allow: true };
await app.database
  .insertInto('series_acl')
  .values([
    { series_id: 'a', position: 0, ...entry },
    { series_id: 'b', position: 0, ...entry },
    { series_id: 'b', position: 1, ...entry, action: 'write' },
  ])
  .execute();
const reader = { Authorization: await app.account('reader', 'ROLE_API_SERIES_VIEW', 'ROLE_R') };

const list = async (query: string, headers: Record<string, string> = {}) =>
  (await readPage(app, `/api/series?${query}`, headers)).ids.join('');
const filtered = (filter: string, headers: Record<string, string> = {}) =>
  list(`filter=${encodeURIComponent(filter)}`, headers);
const search = async (query: string, headers: Record<string, string> = {}) =>
  (await readPage(app, `/api/series/series.json?${query}`, headers)).ids.join('');

describe('the filter', () => {
  test.each([
    ['identifier:a,identifier:c', 'ca'],
    ['title:Zoology: birds', 'a'],
    ['title:zoology: birds', ''],
    ['description:About birds', 'a'],
    ['desription:About birds', 'a'],
    ['subject:Bio,subject:Art', 'ba'],
    ['language:deu', 'ca'],
    ['license:CC-BY', 'a'],
    ['rightsholder:Uni', 'a'],
    ['creator:moodle', 'a'],
    ['Creator:ilias', 'c'],
    ['organizers:Adam', 'ba'],
    ['organizers:Eve,organizers:Dora', 'a'],
    ['contributors:Carl,contributors:Dora', 'ba'],
    ['publishers:Press', 'a'],
    ['managedAcl:x', ''],
    ['CreationDate:2026-01-01T12:00:00Z/2026-01-02T12:00:00Z', 'ba'],
    ['creationDate:2026-01-02T12:00:00.000Z/2027-01-01T00:00:00Z', 'cb'],
    ['language:eng,language:deu', 'ca'],
    ['textFilter:BIRD', 'a'],
    ['textFilter:ÄTH dora', 'b'],
    ['textFilter:moodle', 'a'],
    ['title,title:,language:deu', 'ca'],
  ])('%s finds "%s"', async (filter, ids) => expect(await filtered(filter)).toBe(ids));

  test('only the first one counts', async () => {
    expect(await list('filter=identifier:a&filter=identifier:c')).toBe('a');
  });

  test('an unknown one is refused, but ignored in 1.0.0', async () => {
    const sentence = 'Unknown filter criterion in request: foo';
    expect(await refusal(app, '/api/series?filter=foo:bar')).toEqual([400, sentence]);
    expect(await filtered('foo:bar,language:deu', OLD)).toBe('ca');
    expect(await filtered('identifier:a', OLD)).toBe('cba');
    expect(await filtered('desription:About birds', OLD)).toBe('cba');
    expect(await filtered('title:Zoology: birds', OLD)).toBe('a');
  });

  const day = '2026-01-01T00:00:00Z';
  const malformed = (value: string) =>
    `Filter Series API error: Malformed date period. Correct UTC time period format: yyyy-MM-ddTHH:mm:ssZ/yyyy-MM-ddTHH:mm:ssZ, stated date period string: "${value}"`;
  test.each([
    [day, malformed(day)],
    [`${day}/`, malformed(`${day}/`)],
    [`/${day}`, malformed(`/${day}`)],
    [`${day}/${day}/${day}`, malformed(`${day}/${day}/${day}`)],
    [`now/${day}`, 'Unable to parse createdFrom parameter.'],
    [`${day}/2026-02-30T00:00:00Z`, 'Unable to parse createdTo parameter.'],
  ])('CreationDate:%s is refused', async (value, sentence) => {
    const path = `/api/series?filter=CreationDate:${encodeURIComponent(value)}`;
    expect(await refusal(app, path)).toEqual([400, sentence]);
  });
});

test.each([
  ['', 'cba'],
  ['created:ASC', 'abc'],
  ['title:ASC', 'bca'],
  ['title:DESC', 'acb'],
  ['creator:ASC', 'cba'],
  ['contributors:DESC', 'bac'],
  ['creator:DESC,title:ASC', 'abc'],
])('sorted by "%s" the list is %s', async (sort, ids) => expect(await list(`sort=${sort}`)).toBe(ids));

test.each([
  ...['?sort=foo:ASC', '?sort=title', '?limit=x', '?limit=-1', '?offset=1.5', '?cursor=x'],
  ...['?filter=title:%00', '/series.json?sort=SIZE', '/series.json?count=-1'],
  '/series.json?createdfrom=yesterday',
])('/api/series%s is 400 with a sentence', async (query) => {
  const [status, sentence] = await refusal(app, `/api/series${query}`);
  expect(status).toBe(400);
  expect(sentence).toMatch(/^[A-Z].+/);
});

test('withacl shows the ACL, from 1.5.0 on', async () => {
  const path = '/api/series?withacl=true&filter=identifier:a,title:Zoology: birds';
  expect((await readPage(app, path)).rows[0]?.acl).toEqual([entry]);
  const before = await readPage(app, path, { Accept: 'application/v1.4.0+json' });
  expect(before.rows[0]).not.toHaveProperty('acl');
});

test('an account sees what it may read, or with onlyWithWriteAccess what it may write', async () => {
  expect(await readPage(app, '/api/series?limit=1', reader)).toMatchObject({ ids: ['b'], total: 'eq 2' });
  expect(await list('onlyWithWriteAccess=true&filter=subject:Art', reader)).toBe('b');
  expect(await filtered('textFilter:bach', reader)).toBe('');
});

describe('series.json', () => {
  test.each([
    ['', 'cba'],
    ['seriesId=b', 'b'],
    ['seriesTitle=Bach', 'c'],
    ['creator=Eve', 'a'],
    ['contributor=Dora', 'b'],
    ['publisher=Press', 'a'],
    ['rightsholder=Uni', 'a'],
    ['language=deu', 'ca'],
    ['license=CC-BY', 'a'],
    ['subject=Art', 'ba'],
    ['description=About birds', 'a'],
    ['q=art&fuzzyMatch=true', 'ba'],
    ['q=art&publisher=Press', 'a'],
    ['createdfrom=2026-01-02T12:00:00Z', 'cb'],
    ['createdto=2026-01-02T12:00:00Z', 'ba'],
    ['sort=TITLE', 'bca'],
    ['sort=CREATED_DESC', 'cba'],
    ['sort=title:DESC', 'acb'],
    ['sort=TITLE&count=1&offset=1', 'c'],
  ])('%s finds "%s"', async (query, ids) => expect(await search(query)).toBe(ids));

  test('finds what the account may read or, with edit=true, write', async () => {
    expect(await search('', reader)).toBe('ba');
    expect(await search('edit=true', reader)).toBe('b');
  });
});

test('a page has a hundred series unless the client wants another size', async () => {
  const more = Array.from({ length: 120 }, (_, i) => ({ id: `s${100 + i}`, title: 'Many' }));
  await app.database.insertInto('series').values(more).execute();
  for (const query of ['', 'limit=0']) {
    const page = await readPage(app, `/api/series?${query}`);
    expect(page).toMatchObject({ total: 'eq 123', ids: { length: 100 } });
  }
  const pages = await follow(app, '/api/series?limit=20&sort=title:ASC');
  expect(pages.map(({ ids }) => ids.length)).toEqual([20, 20, 20, 20, 20, 20, 3]);
  expect(new Set(pages.flatMap(({ ids }) => ids)).size).toBe(123);
  expect((await readPage(app, '/api/series?limit=1000')).ids.length).toBe(123);
});
