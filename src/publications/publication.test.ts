import { expect, test } from 'vitest';
import { languageIn } from './publication.ts';

test.each([
  [['lang:de'], 'captions/vtt+en', 'de'],
  [[], 'captions/vtt+en-GB', 'en-GB'],
  [[], 'captions/vtt+auto-de', 'de'],
  [[], 'captions/delivery', undefined],
])('captions with tags %j and flavor %s are in %s', (tags, flavor, expected) => {
  expect(languageIn({ tags, flavor })).toBe(expected);
});
