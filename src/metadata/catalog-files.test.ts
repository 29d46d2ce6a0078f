import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#test/support/folders.ts';
import { loadCatalogs, parseMetadataFiles } from './catalogs.ts';

const EXAMPLES = fileURLToPath(new URL('../../docs/metadata/', import.meta.url));

const CATALOG = `resource: event
flavor: site/episode
title: Site
fields:
  - id: colour
    label: Colour
    type: text
`;

test('the examples bring license/episode and license/series, before the default catalogs', async () => {
  const { event, series } = await loadCatalogs(EXAMPLES);
  expect(event.all.map(({ flavor }) => flavor)).toEqual(['license/episode', 'dublincore/episode']);
  expect(series.all.map(({ flavor }) => flavor)).toEqual(['license/series', 'dublincore/series']);
  expect(event.find(' LICENSE/Episode ')).toBe(event.extended[0]);
  expect(event.find('license/series')).toBeUndefined();
  expect(event.find('')).toBeUndefined();
});

test('a field offers the values of its list, be it built in or of the site', async () => {
  const { series, lists } = await loadCatalogs(EXAMPLES);
  const [license, audience] = series.extended[0]?.fields ?? [];
  expect(license?.collection).toMatchObject({ 'CC-BY': 'EVENTS.LICENSE.CCBY' });
  expect(audience?.collection).toEqual({ members: 'AUDIENCES.MEMBERS', public: 'AUDIENCES.PUBLIC' });
  expect([...lists.keys()]).toEqual(['LICENSES', 'LANGUAGES', 'AUDIENCES']);
});

test("a site's list replaces the built-in one of the same name, also in the default catalogs", async () => {
  const folder = await temporaryFolder();
  const list = 'list: LANGUAGES\nvalues:\n  roh: Rumantsch\n  no: false\n';
  await writeFile(join(folder, 'languages.yml'), list);
  const { event } = await loadCatalogs(folder);
  const language = event.common.fields.find(({ id }) => id === 'language');
  expect(language?.collection).toEqual({ roh: 'Rumantsch', no: 'false' });
});

test('a folder that is not there is refused by the name of its variable', async () => {
  await expect(loadCatalogs(join(EXAMPLES, 'nowhere'))).rejects.toThrow(/^METADATA_DIR is .*nowhere/);
});

test('what is not said of a field is false or absent', () => {
  expect(parseMetadataFiles([{ file: 'f', source: CATALOG }]).catalogs).toEqual([
    {
      resource: 'event',
      flavor: 'site/episode',
      title: 'Site',
      fields: [{ id: 'colour', label: 'Colour', type: 'text', required: false, readOnly: false }],
    },
  ]);
});

const FIELD = CATALOG.indexOf('fields');
const edited = (from: string, to: string) => CATALOG.replace(from, to);

test.each([
  ['a broken file', 'a: [', /^f\.yaml:1: /],
  ['a file that is no mapping', '- a\n', /^f\.yaml:1: the file: /],
  ['an empty file', '', /^f\.yaml:1: the file: /],
  ['an unknown resource', edited('event', 'playlist'), /^f\.yaml:1: resource: /],
  ['a flavor without a slash', edited('site/', ''), /^f\.yaml:2: flavor: a flavor looks like/],
  ['the flavor of a default catalog', edited('site', 'DublinCore'), /^f\.yaml:2: flavor: .*built in/],
  ['a missing title', edited('title: Site\n', ''), /^f\.yaml:1: title: /],
  ['no fields', `${CATALOG.slice(0, FIELD)}fields: []\n`, /^f\.yaml:4: fields: /],
  ['an unknown type', edited('type: text', 'type: colour'), /^f\.yaml:7: fields\.0\.type: .*mixed_text/],
  ['an unknown key', `${CATALOG}    requird: true\n`, /^f\.yaml:5: fields\.0: .*requird/],
  ['an id with a blank', edited('id: colour', 'id: a b'), /^f\.yaml:5: fields\.0\.id: an id is/],
  ['an id that objects have', edited('id: colour', 'id: __proto__'), /^f\.yaml:5: fields\.0\.id: /],
  [
    'an id that two fields have',
    `${CATALOG}  - id: colour\n    label: Other\n    type: list\n`,
    /^f\.yaml:8: the id "colour" is taken by another field$/,
  ],
  [
    'a list that nobody defines',
    `${CATALOG}    list: COLOURS\n`,
    /^f\.yaml:8: the list "COLOURS" does not exist; allowed are LANGUAGES, LICENSES$/,
  ],
  [
    'a list and a collection',
    `${CATALOG}    list: LICENSES\n    collection: {a: b}\n`,
    /^f\.yaml:5: fields\.0: a field has either/,
  ],
  ['a list without values', 'list: A\nvalues: {}\n', /^f\.yaml:2: values: it holds no values$/],
  ['a list named providers', 'list: providers\nvalues: {a: b}\n', /^f\.yaml:1: list: the name is taken/],
])('%s is refused with file and line', (_name, source, message) => {
  expect(() => parseMetadataFiles([{ file: 'f.yaml', source }])).toThrow(message);
});

const two = (first: string, second: string) =>
  parseMetadataFiles([
    { file: 'one.yaml', source: first },
    { file: 'two.yaml', source: second },
  ]);

test.each([
  ['flavor', CATALOG, edited('site/episode', 'SITE/episode')],
  ['list', 'list: A\nvalues: {a: b}\n', 'list: A\nvalues: {c: d}\n'],
])('the same %s in two files is refused', (key, first, second) => {
  expect(() => two(first, second)).toThrow(`the same ${key} is defined by one.yaml`);
});

test('events and series may have catalogs of the same flavor', () => {
  expect(two(CATALOG, edited('event', 'series')).catalogs).toHaveLength(2);
});
