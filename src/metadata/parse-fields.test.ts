import { expect, test } from 'vitest';
import { refusal } from '../../test/support/refusal.ts';
import { loadCatalogs } from './catalogs.ts';
import { catalogJson, fieldsJson } from './json.ts';
import { parseFieldEntries, readFieldEntries } from './parse-fields.ts';

const { event, series } = await loadCatalogs(undefined);
const field = (id: string, value: unknown) => ({ id, value });

const read = (set: typeof event, fields: unknown) =>
  readFieldEntries(parseFieldEntries(JSON.stringify(fields), set.resource), set.common, {
    resource: set.resource,
    id: 'x-1',
    flavor: 'DublinCore/Any',
  });

test.each([
  [undefined, "400 Unable to parse metadata fields as json from '' because there were no fields to update."],
  ['[]', "400 Unable to parse metadata fields as json from '[]' because there were no fields to update."],
  ['{', "400 Unable to parse metadata fields as json from '{'"],
  ['{"id":"title"}', `400 Unable to parse metadata fields as json from '{"id":"title"}'`],
  [
    '[{"id":" ","value":"x"}]',
    "400 One of the metadata fields is missing an id or value. The id was ' ' and the value was 'x'.",
  ],
  [
    '[{"id":"title"}]',
    "400 One of the metadata fields is missing an id or value. The id was 'title' and the value was ''.",
  ],
  [
    '[{"id":"source","value":" ","required":true}]',
    "400 One of the metadata fields is missing an id or value. The id was 'source' and the value was ' '.",
  ],
  [
    '[{"id":"source","value":null,"required":true}]',
    "400 One of the metadata fields is missing an id or value. The id was 'source' and the value was ''.",
  ],
])('for events, the body %s is refused before anything is looked up', (text, message) => {
  expect(refusal(() => parseFieldEntries(text, 'event'))).toBe(message);
});

test.each([
  [undefined, /^400 Unable to update metadata for series as the metadata provided is empty\.$/],
  [' ', /^400 Unable to update metadata for series as the metadata provided is empty\.$/],
  ['{', /^400 Unable to parse metadata fields as json from '\{' because '.+'$/],
  [
    '[]',
    /^400 Unable to parse metadata fields as json from '\[\]' because there were no fields to update\.$/,
  ],
])('for series, the body %s is refused before anything is looked up', (text, message) => {
  expect(refusal(() => parseFieldEntries(text, 'series'))).toMatch(message);
});

test('a field the catalog does not have is not found; it is said to be of an event also for series', () => {
  const message =
    "404 Cannot find a metadata field with id 'colour' from event with id 'x-1' and the metadata type 'DublinCore/Any'.";
  expect(refusal(() => read(event, [field('title', ''), field('colour', 'red')]))).toBe(message);
  expect(refusal(() => read(series, [field('colour', 'red')]))).toBe(message);
});

test('a required field cannot be emptied, and the sentence names the flavor as it was sent', () => {
  expect(refusal(() => read(event, [field('title', ' ')]))).toBe(
    "400 The event metadata field with id 'title' and the metadata type 'DublinCore/Any' is required and can not be empty!.",
  );
  expect(refusal(() => read(series, [field('title', '')]))).toBe(
    "400 The series metadata field with id 'title' and the metadata type 'DublinCore/Any' is required and can not be empty!.",
  );
});

test('dates and times that are none become empty, other values are refused', () => {
  expect(read(event, [field('startDate', 'soon'), field('startTime', '25:00')])).toEqual(
    new Map(Object.entries({ startDate: '', startTime: '' })),
  );
  expect(refusal(() => read(event, [field('duration', 'long')]))).toBe(
    "400 Unable to parse metadata fields because 'the value of 'duration' is \"long\"; allowed is a duration such as 01:30:00'",
  );
  expect(refusal(() => read(event, [field('creator', 'Ada')]))).toMatch(/^400 .*'creator' must be an array/);
  expect(refusal(() => read(event, [field('subjects', 'a')]))).toBe(
    '400 Unable to parse the \'subjects\' metadata array field because: "a" is not an array',
  );
});

test('both names of the subjects are understood, also for series', () => {
  for (const set of [event, series]) {
    expect(read(set, [field('subject', 'a, b')]).get('subjects')).toEqual(['a', 'b']);
    expect(read(set, [field('subject', '')]).get('subjects')).toEqual([]);
    expect(read(set, [field('subjects', ['c'])]).get('subjects')).toEqual(['c']);
  }
});

test('null empties a field of any type, but for a required one', () => {
  const ids = [
    'description',
    'subjects',
    'subject',
    'creator',
    'startDate',
    'startTime',
    'duration',
    'license',
  ];
  for (const id of ids) {
    const [value] = read(event, [field(id, null)]).values();
    expect([id, value]).toEqual([id, ['subjects', 'subject', 'creator'].includes(id) ? [] : '']);
  }
  expect(refusal(() => read(event, [field('title', null)]))).toMatch(
    /^400 .* is required and can not be empty!\.$/,
  );
});

test.each(['metadata', 'withmetadata'] as const)(
  'everything that %s shows can be written back, and read-only fields change nothing',
  (form) => {
    const values = new Map<string, string | string[]>([
      ['title', 'T'],
      ['startDate', '2024-05-02T08:00:00.000Z'],
      ['created', '2024-05-02T08:00:00.000Z'],
      ['publisher', 'p'],
      ['identifier', 'x-1'],
    ]);
    const shown = fieldsJson(event.common, values, { form });
    const written = read(event, shown);
    expect([...written.keys()]).toEqual(shown.filter(({ readOnly }) => !readOnly).map(({ id }) => id));
    expect(fieldsJson(event.common, new Map([...values, ...written]), { form })).toEqual(shown);
  },
);

test('a read-only field is ignored whatever it holds', () => {
  expect(read(event, [field('identifier', { a: '\0' }), field('source', 'x')])).toEqual(
    new Map([['source', 'x']]),
  );
  expect(read(series, catalogJson(series.common, new Map([['title', 'T']])).fields).has('createdBy')).toBe(
    false,
  );
});
