import { expect, test } from 'vitest';
import { parseTrackRequest } from './track-form.ts';

const parse = (fields: Record<string, string>) => parseTrackRequest(new Map(Object.entries(fields)));

test('the fields of a track are read, blanks around them and repeated tags do not count', () => {
  expect(parse({ flavor: ' captions/source ', tags: ' a , ,lang:de,a', overwriteExisting: 'TRUE' })).toEqual({
    flavor: 'captions/source',
    tags: ['a', 'lang:de'],
    overwriteExisting: true,
  });
  expect(parse({ flavor: 'a/b' })).toEqual({ flavor: 'a/b', tags: [], overwriteExisting: false });
});

test.each(['1', 'yes', 'false', ''])('overwriteExisting=%s is not true', (overwriteExisting) => {
  expect(parse({ flavor: 'a/b', overwriteExisting })).toMatchObject({ overwriteExisting: false });
});

test.each([
  ['', ''],
  ['captions', 'captions'],
  ['a/b/c', 'a/b/c'],
  ['a/', 'a/'],
  ['/b', '/b'],
  ['a b/c', 'a b/c'],
  ['a/b\u0000', 'a/b'],
  ['a/\ud800', 'a/'],
  [`a/${'b'.repeat(200)}`, `a/${'b'.repeat(200)}`],
])('the flavor %j is refused', (flavor, shown) => {
  expect(() => parse({ flavor })).toThrow(`Could not parse flavor ${shown}; `);
});

test('a missing flavor is refused', () => {
  expect(() => parse({})).toThrow('Could not parse flavor ; ');
});

test.each([
  ['with a NUL', 'x\u0000'],
  ['with half a character', '\ud800'],
  ['too long', 'x'.repeat(256)],
  ['too many', Array.from({ length: 10_000 }, (_, i) => i).join()],
])('tags %s are refused', (_what, tags) => {
  expect(() => parse({ flavor: 'a/b', tags })).toThrow(/^Could not add track: /);
});
