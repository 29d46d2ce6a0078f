import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ACCURACY, bucketOf, type Histogram, lengthOf, quantile } from './histogram.ts';

const length = fc.double({ min: 0, max: 1.9e11, noNaN: true });
const lengths = fc.array(length, { minLength: 1, maxLength: 300 });
const isWithin = (told: number, ms: number) => Math.abs(told - ms) <= Math.max(1, ms * ACCURACY * (1 + 1e-9));

function histogramOf(all: readonly number[]): Histogram {
  const histogram = new Map<number, number>();
  for (const ms of all) histogram.set(bucketOf(ms), (histogram.get(bucketOf(ms)) ?? 0) + 1);
  return histogram;
}

/** By nearest rank. */
function exact(all: readonly number[], part: number): number {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(part * sorted.length)) - 1] ?? Number.NaN;
}

test('a length is told within ten percent, or a millisecond', () => {
  fc.assert(fc.property(length, (ms) => isWithin(lengthOf(bucketOf(ms)), ms)));
});

test('the median and the 95th percentile are within ten percent of the exact ones, or a millisecond', () => {
  fc.assert(
    fc.property(lengths, fc.constantFrom(0.5, 0.95), (all, part) =>
      isWithin(quantile(histogramOf(all), part) ?? Number.NaN, exact(all, part)),
    ),
  );
});

test('a longer length is in no earlier bucket', () => {
  fc.assert(
    fc.property(lengths, (all) => {
      const buckets = [...all].sort((a, b) => a - b).map(bucketOf);
      expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
    }),
  );
});

test('there are few buckets, however long something took, and nothing has no median', () => {
  const edges = [Number.NaN, -1, 0, 1, Number.MAX_VALUE, Number.POSITIVE_INFINITY];
  expect(edges.map(bucketOf)).toEqual([0, 0, 0, 0, 130, 130]);
  expect(quantile(new Map(), 0.5)).toBeUndefined();
});
