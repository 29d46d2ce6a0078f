import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import { quantile } from './histogram.ts';
import { type Measure, PERIOD_MS, startOf, type Tally } from './tally.ts';

/** The time spans: a day by its hours, or a month by its days. */
export const SPANS = { day: { period: 'hour', slots: 24 }, month: { period: 'day', slots: 30 } } as const;
export type Span = keyof typeof SPANS;

/** A count of an hour or a day. */
export type CountRow = Omit<Tally, 'period'>;

/** Bytes stored at the end of an hour. */
export interface StorageSize {
  hour: Date;
  /** Received from clients. */
  received: number;
  /** Produced by processing. */
  processed: number;
  /** Of drafts and uploads without an event. */
  unfinished: number;
}

/** Returns the starts of the hours or days of a span. The last one is the current one. */
export function slotsOf(span: Span, now: Date): Date[] {
  const { period, slots } = SPANS[span];
  const last = startOf(period, now).getTime();
  return Array.from({ length: slots }, (_, i) => new Date(last - (slots - 1 - i) * PERIOD_MS[period]));
}

/** Reads the counts of a span. */
export async function countsOf(db: Queryable, span: Span, now: Date): Promise<CountRow[]> {
  const { rows } = await sql<CountRow>`
    SELECT start, measure, label, bucket, count, sum FROM statistics_counts
    WHERE period = ${SPANS[span].period} AND start >= ${slotsOf(span, now)[0]}
    ORDER BY start, measure, label, bucket`.execute(db);
  return rows;
}

/** Reads the storage sizes of the last month in order of time. */
export function storageOf(db: Queryable, now: Date): Promise<StorageSize[]> {
  // A day more than the span: the size of a month ago was measured before it.
  const since = new Date(startOf('day', now).getTime() - 31 * PERIOD_MS.day);
  return db
    .selectFrom('storage_sizes')
    .select(['hour', 'received', 'processed', 'unfinished'])
    .where('hour', '>=', since)
    .orderBy('hour')
    .execute();
}

const GROWTH_DAYS = [1, 7, 30];
/** The most by which the earlier measurement may be too old, as a factor. */
const LATE = 1.25;

/** The trends of the last day or month. */
export type Trends = ReturnType<typeof trendsOf>;
/** The figures of an hour or a day, with its last storage size. */
export type Slot = Trends['slots'][number];
/** Median and 95th percentile of durations. */
export type Lengths = NonNullable<Slot['waiting']>;

/** Sums counts and sizes into trends. @param sizes of the last month, in order of time */
export function trendsOf(
  span: Span,
  { counts, sizes, now }: { counts: readonly CountRow[]; sizes: readonly StorageSize[]; now: Date },
) {
  const byStart = Map.groupBy(counts, ({ start }) => start.getTime());
  const length = PERIOD_MS[SPANS[span].period];
  const slots = slotsOf(span, now).map((start) => {
    const end = start.getTime() + length;
    const storage = sizes.findLast(({ hour }) => hour >= start && hour.getTime() < end);
    return { start, storage, ...figuresOf(byStart.get(start.getTime()) ?? []) };
  });
  const stored = sizes.at(-1);
  return {
    span,
    slots,
    total: figuresOf(counts),
    reasons: reasonsOf(counts),
    stored,
    growth: stored ? GROWTH_DAYS.map((days) => growthOver(days, stored, sizes)) : [],
  };
}

/** Returns the sum of all stored bytes. */
export function bytesOf({ received, processed, unfinished }: StorageSize): number {
  return received + processed + unfinished;
}

function figuresOf(rows: readonly CountRow[]) {
  const of = (measure: Measure, label = '') => rows.filter((row) => row.measure === measure && row.label === label);
  const count = (some: readonly CountRow[]) => some.reduce((sum, row) => sum + row.count, 0);
  const uploads = of('upload');
  return {
    uploads: count(uploads),
    bytes: uploads.reduce((sum, row) => sum + row.sum, 0),
    waiting: lengthsOf(of('waiting')),
    publishing: lengthsOf(of('publishing')),
    succeeded: count(of('workflow', 'SUCCEEDED')),
    failed: count(of('workflow', 'FAILED')),
    stopped: count(of('workflow', 'STOPPED')),
  };
}

/** Returns the median and the 95th percentile in milliseconds; undefined without durations. */
function lengthsOf(rows: readonly CountRow[]) {
  const histogram = new Map<number, number>();
  let all = 0;
  for (const { bucket, count } of rows) {
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
    all += count;
  }
  const [median, p95] = [quantile(histogram, 0.5), quantile(histogram, 0.95)];
  return median === undefined || p95 === undefined ? undefined : { count: all, median, p95 };
}

/** Returns the reasons of failures, the most frequent first. The empty one stands for all other reasons. */
function reasonsOf(rows: readonly CountRow[]) {
  const failures = Map.groupBy(
    rows.filter(({ measure }) => measure === 'failure'),
    ({ label }) => label,
  );
  return [...failures]
    .map(([reason, own]) => ({ reason, count: own.reduce((sum, { count }) => sum + count, 0) }))
    .sort((a, b) => b.count - a.count);
}

/** Returns the growth over some days in bytes; undefined if it is unknown. */
function growthOver(days: number, stored: StorageSize, sizes: readonly StorageSize[]) {
  const then = stored.hour.getTime() - days * PERIOD_MS.day;
  const before = sizes.findLast(({ hour }) => hour.getTime() <= then);
  if (!before) return { days, bytes: undefined };
  const isLate = stored.hour.getTime() - before.hour.getTime() > LATE * days * PERIOD_MS.day;
  return { days, bytes: isLate ? undefined : bytesOf(stored) - bytesOf(before) };
}
