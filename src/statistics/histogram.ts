/** Largest relative error of a duration that is read from a histogram. */
export const ACCURACY = 0.1;
const GROWTH = (1 + ACCURACY) / (1 - ACCURACY);
/** Six years; longer durations are counted in it. */
const LAST_BUCKET = 130;

/** Number of durations in each bucket. */
export type Histogram = ReadonlyMap<number, number>;

/**
 * Returns the bucket of a duration in milliseconds. Each bucket is wider than the one before by the same factor; durations
 * up to a millisecond are in the first one.
 */
export function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(LAST_BUCKET, Math.ceil(Math.log(ms) / Math.log(GROWTH)));
}

/** Returns the duration that represents a bucket, in milliseconds. */
export function lengthOf(bucket: number): number {
  return bucket === 0 ? 1 : (2 * GROWTH ** bucket) / (GROWTH + 1);
}

/**
 * Returns a quantile by nearest rank, in milliseconds.
 *
 * @param part 0.5 is the median
 * @returns undefined for an empty histogram
 */
export function quantile(histogram: Histogram, part: number): number | undefined {
  const buckets = [...histogram].sort(([a], [b]) => a - b);
  const all = buckets.reduce((sum, [, count]) => sum + count, 0);
  const rank = Math.max(1, Math.ceil(part * all));
  let passed = 0;
  for (const [bucket, count] of buckets) {
    passed += count;
    if (passed >= rank) return lengthOf(bucket);
  }
  return undefined;
}
