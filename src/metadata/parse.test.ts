import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { refusal } from '../../test/support/refusal.ts';
import { loadCatalogs } from './catalogs.ts';
import { parseCatalogs, parseKnownCatalogs, requireValues } from './parse.ts';
import { UnknownField } from './refusals.ts';

const EXAMPLES = fileURLToPath(new URL('../../docs/metadata/', import.meta.url));
const { event, series } = await loadCatalogs(EXAMPLES);

const field = (id: string, value: unknown) => ({ id, value });
const catalog = (...fields: unknown[]) => JSON.stringify([{ flavor: 'dublincore/episode', fields }]);
const seriesCatalog = (...fields: unknown[]) => JSON.stringify([{ flavor: 'dublincore/series', fields }]);

/** The values a request gives to the default catalog of events. */
const given = (...fields: unknown[]) =>
  Object.fromEntries(parseCatalogs(catalog(...fields), event).get('dublincore/episode') ?? []);

test('values that are no text are taken as their JSON text', () => {
  expect(
    given(
      field('title', 7),
      field('description', { a: [1, null] }),
      field('language', true),
      field('source', [1]),
      field('creator', [1, { b: 2 }, null, ' Ada ', '']),
    ),
  ).toEqual({
    title: '7',
    description: '{"a":[1,null]}',
    language: 'true',
    source: '[1]',
    creator: ['1', '{"b":2}', 'Ada'],
  });
});

test('null is the empty value', () => {
  expect(
    given(
      field('description', null),
      field('creator', null),
      field('subject', null),
      field('duration', null),
    ),
  ).toEqual({ description: '', creator: [], subjects: [], duration: '' });
});

test.each([
  ['subjects', ['a', 'b'], ['a', 'b']],
  ['subjects', '["a","b, c"]', ['a', 'b, c']],
  ['subjects', '', []],
  ['subject', 'a, b ,,', ['a', 'b']],
  ['subject', ['a', 'b, c'], ['a', 'b, c']],
  ['subject', '["a"]', ['a']],
  ['subject', '[a', ['[a']],
  ['subject', '', []],
])('%s %j become the subjects %j', (id, value, subjects) => {
  expect(given(field(id, value))).toEqual({ subjects });
});

test('of repeated fields the last one counts, in one catalog and over several', () => {
  const text = JSON.stringify([
    {
      flavor: 'dublincore/episode',
      fields: [field('title', 'a'), field('title', 'b'), field('source', 'x')],
    },
    { flavor: 'DublinCore/EPISODE', title: 'ignored', label: 7, fields: [field('source', 'y')] },
    { flavor: 'dublincore/episode' },
    { flavor: 'license/episode', fields: null },
  ]);
  expect(parseCatalogs(text, event)).toEqual(
    new Map([
      ['dublincore/episode', new Map(Object.entries({ title: 'b', source: 'y' }))],
      ['license/episode', new Map()],
    ]),
  );
});

test('ten thousand entries are read', () => {
  const fields = Array.from({ length: 10_000 }, (_, i) => field('title', `title ${i}`));
  expect(given(...fields)).toEqual({ title: 'title 9999' });
});

test('half a surrogate pair becomes the replacement character', () => {
  expect(given(field('title', 'a\ud800'), field('creator', ['\udc00']))).toEqual({
    title: 'a\ufffd',
    creator: ['\ufffd'],
  });
});

test('dates and times are trimmed, and what follows a day counts only as an instant', () => {
  expect(given(field('startDate', ' 2024-05-02 '), field('startTime', '13:30:00Z'))).toEqual({
    startDate: '2024-05-02',
    startTime: '13:30:00Z',
  });
  expect(given(field('startDate', '2024-05-02T08:00:00.000Z'))).toEqual({
    startDate: '2024-05-02T08:00:00.000Z',
  });
  expect(given(field('startDate', '2024-05-02Tea'))).toEqual({ startDate: '2024-05-02' });
});

test('read-only fields count in a new event and are ignored in an update', () => {
  const text = catalog(field('identifier', 'mine'), field('publisher', 'me'), field('title', 'T'));
  expect([...(parseCatalogs(text, event).values().next().value?.keys() ?? [])]).toEqual([
    'identifier',
    'publisher',
    'title',
  ]);
  expect(parseCatalogs(text, event, 'update').get('dublincore/episode')).toEqual(new Map([['title', 'T']]));
  const own = parseCatalogs(seriesCatalog(field('createdBy', ['x'])), series, 'update');
  expect(own.get('dublincore/series')).toEqual(new Map());
});

test('an unknown field can be told from other refusals', () => {
  expect(() => parseCatalogs(catalog(field('colour', 'red')), event)).toThrow(UnknownField);
});

test('the fields of configured catalogs are read by their types', () => {
  const fields = [
    field('downloadable', true),
    field('validUntil', '2026-01-31'),
    field('holders', ['A']),
    field('license', 'CC-BY'),
  ];
  const text = (...more: unknown[]) =>
    JSON.stringify([{ flavor: 'license/episode', fields: [...fields, ...more] }]);
  expect(Object.fromEntries(parseCatalogs(text(), event).get('license/episode') ?? [])).toEqual({
    downloadable: 'true',
    validUntil: '2026-01-31',
    holders: ['A'],
    license: 'CC-BY',
  });
  expect(refusal(() => parseCatalogs(text(field('downloadable', 'maybe')), event))).toContain(
    'the value of \'downloadable\' is "maybe"; allowed is true or false',
  );
  expect(refusal(() => parseCatalogs(text(field('validUntil', '2026-01-31T25:00')), event))).toContain(
    "'validUntil'",
  );
});

test('a required field may be absent, but not empty', () => {
  const check = (text: string, set = event) => refusal(() => requireValues(parseCatalogs(text, set), set));
  expect(check(catalog(field('source', '')))).toBe('accepted');
  expect(check(catalog(field('title', ' ')))).toBe(
    "400 The event metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
  );
  expect(check(catalog(field('title', null)))).toBe(check(catalog(field('title', ' '))));
  expect(check(seriesCatalog(field('title', '')), series)).toBe(
    "400 The series metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
  );
  expect(check(JSON.stringify([{ flavor: 'license/series', fields: [field('license', '')] }]), series)).toBe(
    "400 The series metadata field with id 'license' and the metadata type 'TEXT' is required and can not be empty!.",
  );
});

test('a full update of a series ignores what it does not know', () => {
  const text = JSON.stringify([
    null,
    { flavor: 'a/b', fields: [field('title', 'x')] },
    { flavor: 'dublincore/series' },
    { flavor: 'license/series', fields: 'x' },
    {
      flavor: 'dublincore/series',
      label: 'without a title',
      fields: [
        null,
        'x',
        field('colour', 'red'),
        field('source', 'not of a series'),
        field('description', null),
        field('createdBy', 'me'),
        field('identifier', 'other'),
        field('title', 'T'),
        field('subjects', ['a']),
      ],
    },
  ]);
  expect(parseKnownCatalogs(text, series)).toEqual(
    new Map([['dublincore/series', new Map(Object.entries({ title: 'T', subjects: ['a'] }))]]),
  );
});

test.each([
  ['{', 'Not able to parse the event metadata: {'],
  ['', 'Not able to parse the event metadata: '],
  ['{"a":1}', 'Not able to parse the event metadata: {"a":1}'],
  [
    seriesCatalog(field('title', 'a\0')),
    "Not able to parse the event metadata: the value of 'title' holds a NUL character",
  ],
])('a full update of a series with %s is refused', (text, message) => {
  expect(refusal(() => parseKnownCatalogs(text, series))).toBe(`400 ${message}`);
});
