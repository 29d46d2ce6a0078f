import { describe, expect, test } from 'vitest';
import { isSameLanguage, languageTag, parseTranscript, UnusableTranscript } from './transcript.ts';

const parse = (body: unknown, format: 'verbose_json' | 'vtt' | 'srt' = 'verbose_json') =>
  parseTranscript(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), { lengthMs: 10_000, format });
const segment = (start: number, end: number, text: string) => ({ start, end, text });

describe('a transcript', () => {
  test.each([
    ['JSON', { language: 'german', segments: [segment(0.5, 2, ' Guten\n Morgen. ')] }, 'de'],
    ['WebVTT', 'WEBVTT\n\n00:00.500 --> 00:02.000\nGuten <b>Morgen</b>.\n', undefined],
    ['SubRip', '1\n00:00:00,500 --> 00:00:02,000\nGuten Morgen.\n', undefined],
  ])('in %s is read, whatever was asked for', (_, body, language) => {
    expect(parse(body)).toEqual({ segments: [{ begin: 500, end: 2000, text: 'Guten Morgen.' }], language });
  });

  test('has its segments in order, within the sound', () => {
    const segments = [segment(8, 99, 'last'), segment(-1, -2, 'first'), segment(4, 3, 'short'), segment(1, 2, ' ')];
    expect(parse({ segments: [...segments, segment(60, 61, 'beyond')] })?.segments).toEqual([
      { begin: 0, end: 200, text: 'first' },
      { begin: 4000, end: 4200, text: 'short' },
      { begin: 8000, end: 10_000, text: 'last' },
    ]);
  });

  test.each([{ text: '', segments: [], language: 'en' }, ...['WEBVTT\n', 'WEBVTT']])(
    'of silence is empty (%j)',
    (body) => expect(parse(body)?.segments).toEqual([]),
  );

  test('of silence in SubRip is an empty answer', () => expect(parse('', 'srt')?.segments).toEqual([]));

  test.each([{ text: 'Hello.' }, { text: 'Hello.', segments: [] }, 'Hello.'])('without times is none (%j)', (body) =>
    expect(parse(body)).toBeUndefined(),
  );

  test.each([
    ['<!DOCTYPE html><p>Sign in', 'it answered with a web page'],
    ['', 'its answer is neither JSON nor WebVTT nor SubRip'],
    ['{"segments": [{"start"', 'its answer is neither JSON nor WebVTT nor SubRip'],
    [{ error: 'x' }, 'its answer has no segments'],
    [{ segments: [{ start: '0', end: 1, text: 'a' }] }, 'the field "segments.0.start" of its answer is invalid'],
    [{ segments: { start: 0 } }, 'the field "segments" of its answer is invalid'],
    [{ segments: [segment(5000, 6000, 'a')] }, 'all times in its answer lie beyond the end of the sound'],
  ])('is not %j', (body, message) => expect(() => parse(body)).toThrow(new UnusableTranscript(message)));
});

test.each([
  ['english', 'en'],
  ['German', 'de'],
  ['deu', 'de'],
  ['de', 'de'],
  ['pt_BR', 'pt-BR'],
  ['', undefined],
  ['klingon of the stars', undefined],
])('the tag of the language %j is %j', (name, tag) => expect(languageTag(name)).toBe(tag));

test('languages are compared without regions', () => {
  expect(isSameLanguage('deu', 'de-AT')).toBe(true);
  expect(isSameLanguage('de', 'en')).toBe(false);
});
