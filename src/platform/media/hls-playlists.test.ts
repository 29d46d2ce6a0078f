import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Segment } from './fragment-index.ts';
import { bitRatesOf, mediaPlaylist, multivariantPlaylist } from './hls-playlists.ts';

/** Returns segments with so many seconds and kilobits each. */
const segmentsOf = (each: readonly (readonly [seconds: number, kilobits: number])[]): Segment[] =>
  each.map(([seconds, kilobits]) => ({ offset: 0, bytes: kilobits * 125, seconds }));
const repeat = (times: number, seconds: number, kilobits: number) => Array(times).fill([seconds, kilobits] as const);

/** Returns the peak as RFC 8216 defines it (section 4.1), by trying all sets of successive segments. */
function peakOfAllSets(segments: readonly Segment[]): number {
  const target = Math.max(1, ...segments.map(({ seconds }) => Math.round(seconds)));
  const rates = segments.flatMap((_, begin) => {
    const set = { bits: 0, seconds: 0 };
    return segments.slice(begin).flatMap((segment) => {
      set.bits += segment.bytes * 8;
      set.seconds += segment.seconds;
      return set.seconds >= target / 2 && set.seconds <= target * 1.5 ? set.bits / set.seconds : [];
    });
  });
  return Math.max(...rates);
}

describe('the peak of segments', () => {
  it('is that of a busy passage of segments that are shorter than others', () => {
    const calm = repeat(300, 4, 400);
    const segments = segmentsOf([...calm, [5, 500], ...repeat(300, 2, 6000), ...calm]);
    expect(bitRatesOf(segments).peakBitRate).toBe(3_000_000);
  });

  it('is not that of a segment of less than half the target duration', () => {
    expect(
      bitRatesOf(
        segmentsOf([
          [8, 800],
          [1, 4000],
          [7, 700],
        ]),
      ).peakBitRate,
    ).toBe((4_700 / 8) * 1000);
  });

  it('is the average of what is shorter than half the target duration, and of nothing', () => {
    expect(bitRatesOf(segmentsOf([[0.25, 100]]))).toEqual({ peakBitRate: 400_000, averageBitRate: 400_000 });
    expect(bitRatesOf([])).toEqual({ peakBitRate: 0, averageBitRate: 0 });
  });

  it('is the largest of all sets that count', () => {
    // Times that sums give exactly.
    const seconds = fc.integer({ min: 0, max: 160 }).map((each) => each / 16);
    const bytes = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(fc.array(fc.record({ offset: fc.constant(0), bytes, seconds }), { maxLength: 40 }), (segments) => {
        const { averageBitRate, peakBitRate } = bitRatesOf(segments);
        expect(Math.abs(peakBitRate - Math.max(averageBitRate, peakOfAllSets(segments)))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 2000 },
    );
  });

  it('and a playlist are those of any number of segments, even next to one of hours', () => {
    const segments = segmentsOf([[100_000, 1000], ...repeat(200_000, 1, 500), [50_000, 50_000_000]]);
    expect(bitRatesOf(segments).peakBitRate).toBe(1_000_000);
    expect(mediaPlaylist('a.mp4', { initBytes: 9, segments })).toContain('#EXT-X-TARGETDURATION:100000\n');
  });
});

test('the lowest rendition is listed first, even if the copy has fewer bits', () => {
  const variant = { averageBitRate: 1, codecs: [] };
  const list = multivariantPlaylist([
    { ...variant, uri: 'copy', peakBitRate: 100_000 },
    { ...variant, uri: '720', peakBitRate: 900_000 },
    { ...variant, uri: '360', peakBitRate: 300_000 },
  ]);
  expect(list.split('\n').filter((line) => /^\w/.test(line))).toEqual(['360', '720', 'copy']);
});
