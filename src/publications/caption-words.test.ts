import { expect, test } from 'vitest';
import { captionWords } from './caption-words.ts';

test('reads a limited length of captions, however few words they have', () => {
  const captions = (spaces: number) => `WEBVTT\n\n00:01.000 --> 00:02.000\nfirst${' '.repeat(spaces)}last\n`;
  expect(captionWords(captions(1))).toEqual(['first', 'last']);
  expect(captionWords(captions(2 ** 20))).toEqual(['first']);
});
