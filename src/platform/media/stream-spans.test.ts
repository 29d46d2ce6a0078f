import { expect, it } from 'vitest';
import { AUDIO, VIDEO } from '#test/support/streams.ts';
import { picturesEndEarly, silenceEnd } from './stream-spans.ts';

it.each<[string, number | null, number | null, boolean]>([
  ['end long before the sound', 10, 13, true],
  ['are a single one at the start', 0, 30, true],
  ['end with the sound', 12, 13, false],
  ['end at an unknown time', null, 30, false],
  ['have sound without a known end', 10, null, false],
])('pictures that %s', (_what, pictures, sound, expected) => {
  const spans = { video: { begin: 0, end: pictures }, audio: { begin: 0, end: sound } };
  expect(picturesEndEarly({ video: VIDEO, audio: AUDIO, spans })).toBe(expected);
  expect(picturesEndEarly({ video: VIDEO, audio: undefined, spans })).toBe(false);
});

it.each<[string, number | null, number | null, number | undefined]>([
  ['ends early is continued to the last picture', 3600, 1200, 3600],
  ['ends with the pictures is not continued', 3601, 3600, undefined],
  ['has no known end is not continued', 3600, null, undefined],
  ['would be continued for a day is not, because times that claim it are wrong', 90_000, 10, undefined],
])('sound that %s', (_what, pictures, sound, expected) => {
  const spans = { video: { begin: 0, end: pictures }, audio: { begin: 0, end: sound } };
  expect(silenceEnd({ video: VIDEO, audio: AUDIO, spans })).toBe(expected);
  expect(silenceEnd({ video: undefined, audio: AUDIO, spans })).toBeUndefined();
});
