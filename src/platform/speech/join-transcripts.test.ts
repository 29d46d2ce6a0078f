import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinTranscripts } from './join-transcripts.ts';
import { planSoundParts } from './sound-parts.ts';
import type { Segment } from './transcript.ts';

const words = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `word${from + i}`);
const textOf = (segments: readonly Segment[]) => segments.map(({ text }) => text).join(' ');

/** Speech with one word each second, in segments of so many words; `heard` is how a part hears it. */
function speech(begin: number, end: number, length: number, heard = (word: string) => word): Segment[] {
  const spoken = words((end - begin) / 1000, begin / 1000).map(heard);
  const segments: Segment[] = [];
  for (let at = 0; at < spoken.length; at += length) {
    const text = spoken.slice(at, at + length);
    segments.push({ begin: begin + at * 1000, end: begin + (at + text.length) * 1000, text: text.join(' ') });
  }
  return segments;
}

const joined = (...parts: [begin: number, end: number, segments: Segment[]][]) =>
  joinTranscripts(parts.map(([begin, end, segments]) => ({ begin, end, segments })));

describe('the transcripts of overlapping parts', () => {
  test('are joined at a word that both have, whatever the segments are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }), (one, other) => {
        const parts = joined([0, 60_000, speech(0, 60_000, one)], [45_000, 100_000, speech(45_000, 100_000, other)]);
        expect(textOf(parts)).toBe(words(100).join(' '));
        for (const [i, { begin, end }] of parts.entries()) {
          expect(begin).toBeLessThan(end);
          expect(begin).toBeGreaterThanOrEqual(parts[i - 1]?.begin ?? 0);
        }
      }),
    );
  });

  test('lose no word and double none where punctuation, case and the cut-off words differ', () => {
    const first = [
      { begin: 0, end: 50_000, text: 'We begin.' },
      { begin: 50_000, end: 60_000, text: 'A ring has two operations, addition and multi' },
    ];
    const second = [
      { begin: 45_000, end: 50_500, text: 'gin.' },
      { begin: 50_500, end: 62_000, text: 'a ring has Two operations: addition and multiplication.' },
    ];
    expect(textOf(joined([0, 60_000, first], [45_000, 90_000, second]))).toBe(
      'We begin. A ring has two operations: addition and multiplication.',
    );
  });

  test('are joined in the middle of the overlap where they have nothing in common', () => {
    const other = speech(45_000, 100_000, 5, (word) => word.replace('word', 'wort'));
    const spoken = textOf(joined([0, 60_000, speech(0, 60_000, 5)], [45_000, 100_000, other])).split(' ');
    expect(spoken.map((word) => Number(word.slice(4)))).toEqual(words(100).map((_, i) => i));
  });

  test('do not join at the same words of another time', () => {
    const refrain = (begin: number) => ({ begin, end: begin + 3000, text: 'yes we can' });
    const parts = joined([0, 60_000, [refrain(46_000)]], [45_000, 90_000, [refrain(46_200), refrain(56_000)]]);
    expect(parts.map(({ text }) => text).join(' ')).toBe('yes we can yes we can');
  });

  test('are joined in scripts without spaces', () => {
    const parts = joined(
      [0, 60_000, [{ begin: 48_000, end: 60_000, text: '今天我们学习线性代数的基本概' }]],
      [45_000, 90_000, [{ begin: 48_000, end: 63_000, text: '今天我们学习线性代数的基本概念和方法。' }]],
    );
    expect(parts.map(({ text }) => text).join('')).toBe('今天我们学习线性代数的基本概念和方法。');
  });

  test('of silence change nothing', () => {
    expect(joined([0, 60_000, []], [45_000, 90_000, []])).toEqual([]);
    const spoken = [{ begin: 46_000, end: 47_000, text: 'Hello.' }];
    expect(textOf(joined([0, 60_000, spoken], [45_000, 90_000, []]))).toBe('Hello.');
  });
});

test('a recording is divided into overlapping parts, and kept parts are not joined', () => {
  const lengths = { part: 60_000, overlap: 15_000 };
  const kept = [
    { begin: 0, end: 61_000 },
    { begin: 100_000, end: 160_000 },
    { begin: 170_000, end: 170_100 },
  ];
  expect(planSoundParts(kept, lengths)).toEqual([
    { begin: 0, end: 60_000 },
    { begin: 45_000, end: 61_000 },
    { begin: 100_000, end: 160_000 },
  ]);
});

test('endless repetitions of a recognizer are joined', () => {
  const text = 'thank you '.repeat(100_000);
  const [first, second] = [
    { begin: 0, end: 10_000, segments: [{ begin: 8000, end: 10_000, text }] },
    { begin: 5000, end: 15_000, segments: [{ begin: 8000, end: 10_000, text }] },
  ];
  expect(joinTranscripts([first, second]).length).toBeGreaterThan(0);
});
