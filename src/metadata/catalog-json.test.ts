import { expect, test } from 'vitest';
import { catalogValues, LECTURE as lecture } from '#test/support/lecture-metadata.ts';
import type { FieldValue, MetadataCatalog } from './catalog.ts';
import { catalogJson, fieldsJson } from './catalog-json.ts';
import { loadCatalogs } from './catalogs.ts';
import { CatalogJson } from './metadata.schemas.ts';

const catalogs = await loadCatalogs(undefined);
const LECTURE = catalogValues({ ...lecture, contributor: [] });
const plain = { readOnly: false, required: false };
const event = (id: string, suffix: string, type: string, value: unknown, more: object = {}) => ({
  id,
  label: `EVENTS.EVENTS.DETAILS.METADATA.${suffix}`,
  value,
  type,
  ...plain,
  ...more,
});
const readOnly = { readOnly: true };
const titled = (flavor: string, title: string, fields: unknown[]) => ({ flavor, title, label: title, fields });

test('dublincore/episode in /metadata has the 17 fields of the reference', () => {
  expect(catalogJson(catalogs.event.common, LECTURE)).toEqual(
    titled('dublincore/episode', 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE', [
      event('title', 'TITLE', 'text', 'Lecture 1', { required: true }),
      event('subjects', 'SUBJECT', 'text', ['Maths', 'Logic']),
      event('description', 'DESCRIPTION', 'text_long', 'On numbers'),
      event('language', 'LANGUAGE', 'text', 'deu', {
        translatable: true,
        collection: expect.objectContaining({ deu: 'LANGUAGES.GERMAN', eng: 'LANGUAGES.ENGLISH' }),
      }),
      event('rightsHolder', 'RIGHTS', 'text', 'The university'),
      event('license', 'LICENSE', 'text', 'CC-BY', {
        translatable: true,
        collection: expect.objectContaining({
          CC0: 'EVENTS.LICENSE.CC0',
          'CC-BY-SA': 'EVENTS.LICENSE.CCBYSA',
        }),
      }),
      event('isPartOf', 'SERIES', 'text', 's-1', { translatable: false }),
      event('creator', 'PRESENTERS', 'mixed_text', ['Ada L.', 'Charles B.'], { translatable: false }),
      event('contributor', 'CONTRIBUTORS', 'mixed_text', [], { translatable: false }),
      event('startDate', 'START_DATE', 'date', '2024-05-02'),
      event('startTime', 'START_TIME', 'time', '08:30'),
      event('duration', 'DURATION', 'text', '01:02:03'),
      event('location', 'LOCATION', 'text', 'Hall 3'),
      event('source', 'SOURCE', 'text', 'https://example.org/'),
      event('created', 'CREATED', 'date', '2024-05-01T07:00:00.250Z', readOnly),
      event('publisher', 'PUBLISHER', 'text', 'press@example.org', readOnly),
      event('identifier', 'ID', 'text', 'e-1', readOnly),
    ]),
  );
});

test('withmetadata has one whole start, no start time, an ordered license and no collections', () => {
  const inMetadata = fieldsJson(catalogs.event.common, LECTURE);
  const expected = inMetadata
    .filter(({ id }) => id !== 'startTime')
    .map(({ collection, ...field }) => {
      if (field.id === 'startDate') return { ...field, value: '2024-05-02T08:30:15.250Z' };
      return field.id === 'license' ? { ...field, type: 'ordered_text' } : field;
    });
  expect(fieldsJson(catalogs.event.common, LECTURE, { form: 'withmetadata' })).toEqual(expected);
});

test('dublincore/series has the 11 fields of the reference', () => {
  const series = (id: string, suffix: string, type: string, value: unknown, more: object = {}) => ({
    ...event(id, '', type, value, more),
    label: `EVENTS.SERIES.DETAILS.METADATA.${suffix}`,
  });
  const given = catalogValues({
    title: 'Rings',
    subjects: ['Algebra'],
    description: 'All of them',
    language: 'eng',
    rightsHolder: 'Us',
    license: 'CC0',
    creator: ['Emmy N.'],
    contributor: ['Camera crew'],
    publisher: ['Press'],
    createdBy: 'emmy',
    identifier: 's-1',
  });
  expect(catalogJson(catalogs.series.common, given)).toEqual(
    titled('dublincore/series', 'Opencast Series DublinCore', [
      series('title', 'TITLE', 'text', 'Rings', { required: true }),
      series('subjects', 'SUBJECT', 'text', ['Algebra']),
      series('description', 'DESCRIPTION', 'text', 'All of them'),
      series('language', 'LANGUAGE', 'text', 'eng', { translatable: true, collection: expect.any(Object) }),
      series('rightsHolder', 'RIGHTS', 'text', 'Us'),
      series('license', 'LICENSE', 'text', 'CC0', { translatable: true, collection: expect.any(Object) }),
      series('creator', 'ORGANIZERS', 'mixed_text', ['Emmy N.'], { translatable: false }),
      series('contributor', 'CONTRIBUTORS', 'mixed_text', ['Camera crew'], { translatable: false }),
      series('publisher', 'PUBLISHERS', 'mixed_text', ['Press'], { translatable: false }),
      series('createdBy', 'CREATED_BY', 'text', 'emmy', readOnly),
      series('identifier', 'ID', 'text', 's-1', readOnly),
    ]),
  );
});

test('a locked catalog says so, and all its fields are read-only', () => {
  const locked = catalogJson(catalogs.event.common, LECTURE, { locked: true });
  expect(locked.locked).toBe('EVENTS.EVENTS.DETAILS.METADATA.LOCKED.RUNNING');
  expect(locked.fields.every((field) => field.readOnly)).toBe(true);
});

const SIMPLE = ['text', 'text_long', 'ordered_text', 'mixed_text', 'list'] as const;
const TYPES = [...SIMPLE, 'boolean', 'number', 'date', 'duration'] as const;

const EVERY_TYPE: MetadataCatalog = {
  flavor: 'site/episode',
  title: 'T',
  fields: TYPES.map((type) => ({ id: type, label: 'L', type, required: false, readOnly: false })),
};

test.each([
  ['empty', {}, ['', '', '', [], [], '', '', '', '00:00:00']],
  [
    'given',
    {
      text: 'a',
      text_long: 'b\nc',
      ordered_text: 'd',
      mixed_text: ['e'],
      list: ['f', 'g'],
      boolean: 'false',
      number: '-12',
      date: '2026-01-31T13:30:00+01:00',
      duration: '100:00:00',
    },
    ['a', 'b\nc', 'd', ['e'], ['f', 'g'], false, '-12', '2026-01-31T12:30:00.000Z', '100:00:00'],
  ],
  [
    'stored when their fields had other types',
    { text: ['a', 'b'], list: 'c', mixed_text: '', date: 'soon', duration: 'long' },
    ['a, b', '', '', [], ['c'], '', '', '', '00:00:00'],
  ],
])('values that are %s are shown as their types have them', (_name, given, expected) => {
  const json = catalogJson(EVERY_TYPE, catalogValues(given as Record<string, FieldValue>), { form: 'withmetadata' });
  expect(CatalogJson.parse(json).fields.map(({ value }) => value)).toEqual(expected);
  // Lists and durations are texts for the client.
  const shown = TYPES.map((type) => (['list', 'duration'].includes(type) ? 'text' : type));
  expect(json.fields.map(({ type }) => type)).toEqual(shown);
});

test('further properties that a field is configured with are passed on', () => {
  const shown = { id: 'a', label: 'A', type: 'text', required: true, readOnly: true } as const;
  const more = { delimiter: ';', collection: { x: 'X' } };
  const fields = [{ ...shown, ...more, listProvider: 'XS', term: 'title' }];
  expect(fieldsJson({ ...EVERY_TYPE, fields }, new Map())).toEqual([{ ...shown, ...more, value: '' }]);
});
