import { expect, test } from 'vitest';
import { CAPTIONS, elementUrl, type PublicationElement } from '../model.ts';
import { captionChoices } from './captions.ts';

/** The choices among captions with these tags. */
function choices(...tags: string[][]) {
  const elements = tags.map((each, i) => ({
    ...{ id: `c${i}`, publication_id: 'p', kind: 'attachment', flavor: CAPTIONS },
    ...{ filename: 'c.vtt', tags: each },
  }));
  return captionChoices({ elements: elements as unknown as PublicationElement[] }, (each) =>
    elementUrl('..', each),
  );
}

test.each([
  [['lang:de'], 'de', 'Deutsch'],
  [['subtitle', 'lang:fr', 'generator-type:auto'], 'fr', 'Français (automatic)'],
  [['lang:deu'], 'de', 'Deutsch'],
  [['lang:en_gb'], 'en-GB', 'British English'],
  [['lang:en-x-auto'], 'en', 'English'],
  [['lang:de-u-co-phonebk'], 'de', 'Deutsch'],
  [['lang:en-t-de'], 'en', 'English'],
  [['lang:en-US-x-whisper'], 'en-US', 'American English'],
  [['lang:x-auto'], undefined, 'Captions'],
  [['lang:not a language'], undefined, 'Captions'],
  [['lang:'], undefined, 'Captions'],
  [[], undefined, 'Captions'],
])('captions tagged %j are in %s and called %s', (tags, language, label) => {
  expect(choices(tags)).toEqual([{ url: '../publications/p/c0/c.vtt', language, label }]);
});

test('no two choices are called alike', () => {
  expect(choices(['lang:de'], ['lang:de'], [], []).map(({ label }) => label)).toEqual([
    'Deutsch',
    'Deutsch 2',
    'Captions',
    'Captions 2',
  ]);
});
