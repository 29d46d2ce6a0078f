import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ACCURACY, bucketOf, type Histogram, lengthOf, quantile } from './histogram.ts';

const SIX_YEARS = 1.9e11;
const lengths = fc.array(fc.double({ min: 0, max: SIX_YEARS, noNaN: true }), {
  minLength: 1,
  maxLength: 300,
});

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
  fc.assert(
    fc.property(fc.double({ min: 0, max: SIX_YEARS, noNaN: true }), (ms) => {
      const told = lengthOf(bucketOf(ms));
      expect(Math.abs(told - ms)).toBeLessThanOrEqual(Math.max(1, ms * ACCURACY * (1 + 1e-9)));
    }),
  );
});

test('the median and the 95th percentile are within ten percent of the exact ones, or a millisecond', () => {
  fc.assert(
    fc.property(lengths, fc.constantFrom(0.5, 0.95), (all, part) => {
      const told = quantile(histogramOf(all), part) ?? Number.NaN;
      const ms = exact(all, part);
      expect(Math.abs(told - ms)).toBeLessThanOrEqual(Math.max(1, ms * ACCURACY * (1 + 1e-9)));
    }),
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

test.each([Number.NaN, -1, 0, 1])('%d is in the first bucket', (ms) => {
  expect(bucketOf(ms)).toBe(0);
});

test('there are few buckets, however long something took', () => {
  expect(bucketOf(Number.POSITIVE_INFINITY)).toBe(130);
  expect(bucketOf(Number.MAX_VALUE)).toBe(130);
});

test('nothing has no median', () => {
  expect(quantile(new Map(), 0.5)).toBeUndefined();
});
