/** How far a length of time that is read from a histogram may be from the true one: ten percent of it. */
export const ACCURACY = 0.1;
const GROWTH = (1 + ACCURACY) / (1 - ACCURACY);
/** Six years; what took longer is counted as that. */
const LAST_BUCKET = 130;

/** How many lengths of time there were in each bucket. */
export type Histogram = ReadonlyMap<number, number>;

/**
 * The bucket in which a length of time is counted, in milliseconds. Each reaches so much further than the one before that
 * one length stands for all in it; what is not longer than a millisecond is in the first one.
 */
export function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(LAST_BUCKET, Math.ceil(Math.log(ms) / Math.log(GROWTH)));
}

/** The length that stands for all in a bucket, in milliseconds. */
export function lengthOf(bucket: number): number {
  return bucket === 0 ? 1 : (2 * GROWTH ** bucket) / (GROWTH + 1);
}

/**
 * The length that so large a part of all does not exceed (by nearest rank), in milliseconds.
 *
 * @param part 0.5 is the median
 * @returns undefined when there are none
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
