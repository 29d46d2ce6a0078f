import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { badRequest } from '#platform/http/errors/errors.ts';
import { refusal } from '#test/support/refusal.ts';
import { catalogJson, fieldsJson } from './catalog-json.ts';
import { loadCatalogs } from './catalogs.ts';
import {
  parseCatalogs,
  parseFieldEntries,
  parseKnownCatalogs,
  readFieldEntries,
  requireValues,
} from './parse-metadata.ts';

const { event, series } = await loadCatalogs(fileURLToPath(new URL('../../docs/metadata/', import.meta.url)));

const field = (id: string, value: unknown) => ({ id, value });
const fields = (values: Record<string, unknown>) => Object.entries(values).map(([id, value]) => field(id, value));
const catalog = (own: unknown, flavor = 'dublincore/episode') => JSON.stringify([{ flavor, fields: own }]);
/** A catalog with these values. */
const withValues = (values: Record<string, unknown>, flavor?: string) => catalog(fields(values), flavor);
const map = (values: Record<string, unknown>) => new Map(Object.entries(values));

const missing = (id: string, value: string) =>
  `One of the metadata fields is missing an id or value. The id was '${id}' and the value was '${value}'.`;
const noArray = (text: string) =>
  `Unable to parse the 'subjects' metadata array field because: "${text}" is not an array`;
const required = (resource: string, id: string, type: string) =>
  `400 The ${resource} metadata field with id '${id}' and the metadata type '${type}' is required and can not be empty!.`;

describe('catalogs of a new event', () => {
  /** The values a request gives to a catalog. */
  const given = (values: Record<string, unknown>, flavor = 'dublincore/episode') =>
    Object.fromEntries(parseCatalogs(withValues(values, flavor), event).get(flavor) ?? []);

  test.each<[string, unknown, unknown, string?]>([
    // What is no text is taken as its JSON text, null as the empty value.
    ['title', 7, '7'],
    ['description', { a: [1, null] }, '{"a":[1,null]}'],
    ['language', true, 'true'],
    ['source', [1], '[1]'],
    ['creator', [1, { b: 2 }, null, ' Ada ', ''], ['1', '{"b":2}', 'Ada']],
    ['contributor', null, []],
    ['duration', null, ''],
    // Half a surrogate pair becomes the replacement character.
    ['title', 'a\ud800', 'a\ufffd'],
    ['creator', ['\udc00'], ['\ufffd']],
    // Dates and times are trimmed, and what follows a day counts only as an instant.
    ['startDate', ' 2024-05-02 ', '2024-05-02'],
    ['startTime', '13:30:00Z', '13:30:00Z'],
    ['startDate', '2024-05-02T08:00:00.000Z', '2024-05-02T08:00:00.000Z'],
    ['startDate', '2024-05-02Tea', '2024-05-02'],
    ['subjects', ['a', 'b'], ['a', 'b']],
    ['subjects', '["a","b, c"]', ['a', 'b, c']],
    ['subjects', '', []],
    ['subject', null, [], 'subjects'],
    ['subject', 'a, b ,,', ['a', 'b'], 'subjects'],
    ['subject', ['a', 'b, c'], ['a', 'b, c'], 'subjects'],
    ['subject', '["a"]', ['a'], 'subjects'],
    ['subject', '[a', ['[a'], 'subjects'],
    ['subject', '', [], 'subjects'],
  ])('the field %s with %j is read as %j', (id, value, read, name = id) => {
    expect(given({ [id]: value })).toEqual({ [name]: read });
  });

  test('of repeated fields the last one counts, in one catalog and over several', () => {
    const titles = Array.from({ length: 10_000 }, (_, i) => field('title', `title ${i}`));
    const text = JSON.stringify([
      { flavor: 'dublincore/episode', fields: [...titles, field('source', 'x')] },
      { flavor: 'DublinCore/EPISODE', title: 'ignored', label: 7, fields: [field('source', 'y')] },
      { flavor: 'dublincore/episode' },
      { flavor: 'license/episode', fields: null },
    ]);
    const expected = { 'dublincore/episode': map({ title: 'title 9999', source: 'y' }) };
    expect(parseCatalogs(text, event)).toEqual(map({ ...expected, 'license/episode': new Map() }));
  });

  test('read-only fields count in a new event and are ignored in an update', () => {
    const values = { identifier: 'mine', publisher: 'me', title: 'T' };
    expect(given(values)).toEqual(values);
    const updated = parseCatalogs(withValues(values), event, 'update');
    expect(updated.get('dublincore/episode')).toEqual(map({ title: 'T' }));
    const own = parseCatalogs(withValues({ createdBy: ['x'] }, 'dublincore/series'), series, 'update');
    expect(own.get('dublincore/series')).toEqual(new Map());
  });

  test('the fields of configured catalogs are read by their types', () => {
    const values = { validUntil: '2026-01-31', holders: ['A'], license: 'CC-BY' };
    const read = given({ downloadable: true, ...values }, 'license/episode');
    expect(read).toEqual({ downloadable: 'true', ...values });
    expect(refusal(() => given({ downloadable: 'maybe' }, 'license/episode'))).toContain(
      'the value of \'downloadable\' is "maybe"; allowed is true or false',
    );
    const wrong = { validUntil: '2026-01-31T25:00' };
    expect(refusal(() => given(wrong, 'license/episode'))).toContain("'validUntil'");
  });

  test('a required field may be absent, but not empty', () => {
    const check = (values: Record<string, unknown>, flavor = 'dublincore/episode', set = event) =>
      refusal(() => requireValues(parseCatalogs(withValues(values, flavor), set), set));
    expect(check({ source: '' })).toBe('accepted');
    for (const title of [' ', null]) expect(check({ title })).toBe(required('event', 'title', 'TEXT'));
    const ofSeries = check({ title: '' }, 'dublincore/series', series);
    expect(ofSeries).toBe(required('series', 'title', 'TEXT'));
    const license = check({ license: '' }, 'license/series', series);
    expect(license).toBe(required('series', 'license', 'TEXT'));
  });

  const NO_FLAVOR = 'Unable to create new event as no flavor was given for one of the metadata collections';
  const unknownField = (id: string) =>
    `Cannot find a metadata field with id '${id}' from Catalog with Flavor 'dublincore/episode'.`;
  const unfit = (text: string) => `Unable to parse event metadata because: '${text}'`;
  const fault = (id: string, text: string) => unfit(`the value of '${id}' ${text}`);
  const not = (id: string, value: string, allowed: string) => fault(id, `is "${value}"; allowed is ${allowed}`);
  const tooLong = (id: string, bytes: number) => fault(id, `is longer than ${bytes} bytes of UTF-8`);

  test.each<[text: string, message: string | RegExp]>([
    ['{', /^400 Unable to parse event metadata because: '.+'$/],
    ['null', unfit('it is not an array of catalogs')],
    ['[null]', NO_FLAVOR],
    ['[{"flavor":" "}]', NO_FLAVOR],
    ['[{"flavor":7}]', NO_FLAVOR],
    ['[{"flavor":"a/b"}]', "Unable to find an EventCatalogUIAdapter with Flavor 'a/b'"],
    ['[{"flavor":"__proto__"}]', "Unable to find an EventCatalogUIAdapter with Flavor '__proto__'"],
    [catalog({}), unfit('the fields of dublincore/episode are not an array')],
    [withValues({ colour: 'red' }), unknownField('colour')],
    [withValues({ constructor: '' }), unknownField('constructor')],
    [catalog([{ id: 'title' }]), missing('title', '')],
    [catalog([{ value: 'x' }]), missing('', 'x')],
    [catalog(['x']), missing('', '')],
    [withValues({ subjects: 'Maths' }), noArray('Maths')],
    [withValues({ creator: 'Ada' }), fault('creator', 'must be an array, and "Ada" is not an array')],
    [withValues({ startDate: '2024-02-30' }), not('startDate', '2024-02-30', 'a date such as 2026-01-31')],
    [withValues({ startTime: '24:00' }), not('startTime', '24:00', 'a time in UTC such as 13:30:00Z')],
    [withValues({ duration: 90 }), not('duration', '90', 'a duration such as 01:30:00')],
    [withValues({ title: 'a\0b' }), fault('title', 'holds a NUL character')],
    [withValues({ title: 'ü'.repeat(1001) }), tooLong('title', 2000)],
    [withValues({ description: 'x'.repeat(100_001) }), tooLong('description', 100_000)],
    [withValues({ creator: ['a', 'x'.repeat(2001)] }), tooLong('creator', 2000)],
    [withValues({ creator: Array(10_000).fill('x') }), fault('creator', 'has more than 1000 items')],
    [
      `[{"flavor":"dublincore/episode","fields":[{"id":"title","value":${'['.repeat(99_999)}${']'.repeat(99_999)}}]}]`,
      // Some versions of V8 write such a value, others refuse to.
      /^400 Unable to parse event metadata because: 'the value of 'title' is (nested too deeply|longer than 2000 bytes of UTF-8)'$/,
    ],
  ])('with the metadata %.90s are refused', (text, message) => {
    const answer = refusal(() => parseCatalogs(text, event));
    if (typeof message === 'string') expect(answer).toBe(`400 ${message}`);
    else expect(answer).toMatch(message);
  });

  test('with an unknown field are refused as who reads them says', () => {
    const unknown = (id: string, flavor: string) => badRequest(`${id} of ${flavor}`);
    const read = () => parseCatalogs(withValues({ colour: 'red' }), event, 'update', unknown);
    expect(read).toThrow('colour of dublincore/episode');
  });
});

describe('catalogs of a series', () => {
  const seriesCatalog = (values: Record<string, unknown>) => withValues(values, 'dublincore/series');

  test.each([
    ['{', /^400 Unable to parse metadata because '.+'$/],
    ['[{}]', /^400 Unable to create new series as no flavor was given for one of the metadata collections$/],
    [catalog([]), /^400 Unable to find an SeriesCatalogUIAdapter with Flavor 'dublincore\/episode'$/],
    [
      seriesCatalog({ createdBy: 'ada' }),
      /^400 Cannot find a metadata field with id 'createdBy' from Catalog with Flavor 'dublincore\/series'\.$/,
    ],
    [seriesCatalog({ subjects: {} }), /^400 Unable to parse the 'subjects' metadata array field because: /],
  ])('with the metadata %s are refused', (text, message) => {
    expect(refusal(() => parseCatalogs(text, series))).toMatch(message);
  });

  test('in a full update what is not known is ignored', () => {
    const ignored = { colour: 'red', source: 'not of a series', createdBy: 'me', identifier: 'other' };
    const values = { ...ignored, description: null, title: 'T', subjects: ['a'] };
    const text = JSON.stringify([
      null,
      { flavor: 'a/b', fields: fields({ title: 'x' }) },
      { flavor: 'dublincore/series' },
      { flavor: 'license/series', fields: 'x' },
      { flavor: 'dublincore/series', label: 'without a title', fields: [null, 'x', ...fields(values)] },
    ]);
    const known = map({ title: 'T', subjects: ['a'] });
    expect(parseKnownCatalogs(text, series)).toEqual(map({ 'dublincore/series': known }));
  });

  test.each([
    ['{', '{'],
    ['', ''],
    ['{"a":1}', '{"a":1}'],
    [seriesCatalog({ title: 'a\0' }), "the value of 'title' holds a NUL character"],
  ])('in a full update are refused with the metadata %s', (text, reason) => {
    const answer = refusal(() => parseKnownCatalogs(text, series));
    expect(answer).toBe(`400 Not able to parse the event metadata: ${reason}`);
  });
});

describe('fields of an update', () => {
  const read = (set: typeof event, sent: Record<string, unknown> | ReturnType<typeof fieldsJson>) => {
    const text = JSON.stringify(Array.isArray(sent) ? sent : fields(sent));
    const target = { resource: set.resource, id: 'x-1', flavor: 'DublinCore/Any' };
    return readFieldEntries(parseFieldEntries(text, set.resource), set.common, target);
  };
  const unread = (text: string) => `Unable to parse metadata fields as json from '${text}'`;

  test.each([
    [undefined, `${unread('')} because there were no fields to update.`],
    ['[]', `${unread('[]')} because there were no fields to update.`],
    ['{', unread('{')],
    ['{"id":"title"}', unread('{"id":"title"}')],
    ['[{"id":" ","value":"x"}]', missing(' ', 'x')],
    ['[{"id":"title"}]', missing('title', '')],
    ['[{"id":"source","value":" ","required":true}]', missing('source', ' ')],
    ['[{"id":"source","value":null,"required":true}]', missing('source', '')],
  ])('for events, the body %s is refused before anything is looked up', (text, message) => {
    expect(refusal(() => parseFieldEntries(text, 'event'))).toBe(`400 ${message}`);
  });

  test.each([
    [undefined, /^400 Unable to update metadata for series as the metadata provided is empty\.$/],
    [' ', /^400 Unable to update metadata for series as the metadata provided is empty\.$/],
    ['{', /^400 Unable to parse metadata fields as json from '\{' because '.+'$/],
    ['{}', /^400 Unable to parse metadata fields as json from '\{\}' because '.+'$/],
    ['[]', /^400 .* json from '\[\]' because there were no fields to update\.$/],
  ])('for series, the body %s is refused before anything is looked up', (text, message) => {
    expect(refusal(() => parseFieldEntries(text, 'series'))).toMatch(message);
  });

  test('a field the catalog does not have is not found; the sentence names an event also for series', () => {
    const message =
      "404 Cannot find a metadata field with id 'colour' from event with id 'x-1' and the metadata type 'DublinCore/Any'.";
    expect(refusal(() => read(event, { title: '', colour: 'red' }))).toBe(message);
    expect(refusal(() => read(series, { colour: 'red' }))).toBe(message);
  });

  test('a required field cannot be emptied, and the sentence names the flavor as it was sent', () => {
    const sentence = (resource: string) => required(resource, 'title', 'DublinCore/Any');
    expect(refusal(() => read(event, { title: ' ' }))).toBe(sentence('event'));
    expect(refusal(() => read(series, { title: '' }))).toBe(sentence('series'));
  });

  test('dates and times that are none become empty, other values are refused', () => {
    const none = read(event, { startDate: 'soon', startTime: '25:00' });
    expect(none).toEqual(map({ startDate: '', startTime: '' }));
    expect(refusal(() => read(event, { duration: 'long' }))).toBe(
      "400 Unable to parse metadata fields because 'the value of 'duration' is \"long\"; allowed is a duration such as 01:30:00'",
    );
    expect(refusal(() => read(event, { creator: 'Ada' }))).toMatch(/^400 .*'creator' must be an array/);
    expect(refusal(() => read(event, { subjects: 'a' }))).toBe(`400 ${noArray('a')}`);
  });

  test('both names of the subjects are understood, also for series', () => {
    for (const set of [event, series]) {
      expect(read(set, { subject: 'a, b' }).get('subjects')).toEqual(['a', 'b']);
      expect(read(set, { subject: '' }).get('subjects')).toEqual([]);
      expect(read(set, { subjects: ['c'] }).get('subjects')).toEqual(['c']);
    }
  });

  test('null empties a field of any type, but for a required one', () => {
    for (const id of ['description', 'startDate', 'startTime', 'duration', 'license']) {
      expect([id, ...read(event, { [id]: null }).values()]).toEqual([id, '']);
    }
    for (const id of ['subjects', 'subject', 'creator']) {
      expect([id, ...read(event, { [id]: null }).values()]).toEqual([id, []]);
    }
    expect(refusal(() => read(event, { title: null }))).toBe(required('event', 'title', 'DublinCore/Any'));
  });

  test.each(['metadata', 'withmetadata'] as const)(
    'everything that %s shows can be written back, and read-only fields change nothing',
    (form) => {
      const start = '2024-05-02T08:00:00.000Z';
      const common = { title: 'T', publisher: 'p', identifier: 'x-1' };
      const values = new Map(Object.entries({ ...common, startDate: start, created: start }));
      const shown = fieldsJson(event.common, values, { form });
      const written = read(event, shown);
      expect([...written.keys()]).toEqual(shown.filter(({ readOnly }) => !readOnly).map(({ id }) => id));
      expect(fieldsJson(event.common, new Map([...values, ...written]), { form })).toEqual(shown);
    },
  );

  test('a read-only field is ignored whatever it holds', () => {
    expect(read(event, { identifier: { a: '\0' }, source: 'x' })).toEqual(map({ source: 'x' }));
    const { fields: shown } = catalogJson(series.common, new Map([['title', 'T']]));
    expect(read(series, shown).has('createdBy')).toBe(false);
  });
});
