import { expect, test } from 'vitest';
import { refusal } from '../../test/support/refusal.ts';
import { loadCatalogs } from './catalogs.ts';
import { parseCatalogs } from './parse.ts';

const { event, series } = await loadCatalogs(undefined);

const field = (id: string, value: unknown) => ({ id, value });
const catalog = (...fields: unknown[]) => JSON.stringify([{ flavor: 'dublincore/episode', fields }]);
const seriesCatalog = (...fields: unknown[]) => JSON.stringify([{ flavor: 'dublincore/series', fields }]);

test.each([
  ['{', /^400 Unable to parse event metadata because: '.+'$/],
  ['null', "Unable to parse event metadata because: 'it is not an array of catalogs'"],
  ['[null]', 'Unable to create new event as no flavor was given for one of the metadata collections'],
  [
    '[{"fields":[]}]',
    'Unable to create new event as no flavor was given for one of the metadata collections',
  ],
  [
    '[{"flavor":" "}]',
    'Unable to create new event as no flavor was given for one of the metadata collections',
  ],
  ['[{"flavor":7}]', 'Unable to create new event as no flavor was given for one of the metadata collections'],
  ['[{"flavor":"a/b"}]', "Unable to find an EventCatalogUIAdapter with Flavor 'a/b'"],
  ['[{"flavor":"__proto__"}]', "Unable to find an EventCatalogUIAdapter with Flavor '__proto__'"],
  [
    '[{"flavor":"dublincore/episode","fields":{}}]',
    "Unable to parse event metadata because: 'the fields of dublincore/episode are not an array'",
  ],
  [
    catalog(field('colour', 'red')),
    "Cannot find a metadata field with id 'colour' from Catalog with Flavor 'dublincore/episode'.",
  ],
  [
    catalog(field('constructor', '')),
    "Cannot find a metadata field with id 'constructor' from Catalog with Flavor 'dublincore/episode'.",
  ],
  [
    catalog({ id: 'title' }),
    "One of the metadata fields is missing an id or value. The id was 'title' and the value was ''.",
  ],
  [
    catalog({ value: 'x' }),
    "One of the metadata fields is missing an id or value. The id was '' and the value was 'x'.",
  ],
  [catalog('x'), "One of the metadata fields is missing an id or value. The id was '' and the value was ''."],
  [
    catalog(field('subjects', 'Maths')),
    'Unable to parse the \'subjects\' metadata array field because: "Maths" is not an array',
  ],
  [
    catalog(field('creator', 'Ada')),
    "Unable to parse event metadata because: 'the value of 'creator' must be an array, and \"Ada\" is not an array'",
  ],
  [
    catalog(field('startDate', '2024-02-30')),
    "Unable to parse event metadata because: 'the value of 'startDate' is \"2024-02-30\"; allowed is a date such as 2026-01-31'",
  ],
  [
    catalog(field('startTime', '24:00')),
    "Unable to parse event metadata because: 'the value of 'startTime' is \"24:00\"; allowed is a time in UTC such as 13:30:00Z'",
  ],
  [
    catalog(field('duration', 90)),
    "Unable to parse event metadata because: 'the value of 'duration' is \"90\"; allowed is a duration such as 01:30:00'",
  ],
  [
    catalog(field('title', 'a\0b')),
    "Unable to parse event metadata because: 'the value of 'title' holds a NUL character'",
  ],
  [
    catalog(field('title', 'ü'.repeat(1001))),
    "Unable to parse event metadata because: 'the value of 'title' is longer than 2000 bytes of UTF-8'",
  ],
  [
    catalog(field('description', 'x'.repeat(100_001))),
    "Unable to parse event metadata because: 'the value of 'description' is longer than 100000 bytes of UTF-8'",
  ],
  [
    catalog(field('creator', ['a', 'x'.repeat(2001)])),
    "Unable to parse event metadata because: 'the value of 'creator' is longer than 2000 bytes of UTF-8'",
  ],
  [
    catalog(field('creator', Array(10_000).fill('x'))),
    "Unable to parse event metadata because: 'the value of 'creator' has more than 1000 items'",
  ],
  [
    `[{"flavor":"dublincore/episode","fields":[{"id":"title","value":${'['.repeat(99_999)}${']'.repeat(99_999)}}]}]`,
    // Some versions of V8 write such a value, others refuse to.
    /^400 Unable to parse event metadata because: 'the value of 'title' is (nested too deeply|longer than 2000 bytes of UTF-8)'$/,
  ],
])('an event with the metadata %.90s is refused', (text, message) => {
  expect(refusal(() => parseCatalogs(text, event))).toMatch(
    message instanceof RegExp ? message : new RegExp(`^400 ${RegExp.escape(message)}$`),
  );
});

test.each([
  ['{', /^400 Unable to parse metadata because '.+'$/],
  ['[{}]', /^400 Unable to create new series as no flavor was given for one of the metadata collections$/],
  [
    '[{"flavor":"dublincore/episode"}]',
    /^400 Unable to find an SeriesCatalogUIAdapter with Flavor 'dublincore\/episode'$/,
  ],
  [
    seriesCatalog(field('createdBy', 'ada')),
    /^400 Cannot find a metadata field with id 'createdBy' from Catalog with Flavor 'dublincore\/series'\.$/,
  ],
  [
    seriesCatalog(field('subjects', {})),
    /^400 Unable to parse the 'subjects' metadata array field because: /,
  ],
])('a series with the metadata %s is refused', (text, message) => {
  expect(refusal(() => parseCatalogs(text, series))).toMatch(message);
});
