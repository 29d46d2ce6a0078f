import type { Measure } from './facts.ts';
import { quantile } from './histogram.ts';
import { PERIOD_MS } from './tally.ts';
import { type CountRow, SPANS, type Span, type StorageSize, slotsOf } from './trends.queries.ts';

/** What half of all, and what 95 of 100 did not exceed, in milliseconds. */
export interface Lengths {
  count: number;
  median: number;
  p95: number;
}

/** How it went in some time. */
export interface Figures {
  uploads: number;
  bytes: number;
  /** How long operations waited for a worker; undefined when none was taken. */
  waiting: Lengths | undefined;
  /** How long it took from the start of a workflow to a publication. */
  publishing: Lengths | undefined;
  /** Workflows that ended. */
  succeeded: number;
  failed: number;
  stopped: number;
}

/** An hour or a day of it. */
export interface Slot extends Figures {
  start: Date;
  /** The last time that was measured in it. */
  storage: StorageSize | undefined;
}

/** How much more was stored than so many days ago, in bytes; undefined when that is not known. */
export interface Growth {
  days: number;
  bytes: number | undefined;
}

/** How it went in the last day or month. */
export interface Trends {
  span: Span;
  slots: Slot[];
  total: Figures;
  /** The most frequent first; the empty one stands for all that are not told apart. */
  reasons: { reason: string; count: number }[];
  /** What was measured last, if anything was. */
  stored: StorageSize | undefined;
  growth: Growth[];
}

const GROWTH_DAYS = [1, 7, 30];
/** What was measured so much earlier than it should have been is of another time. */
const LATE = 1.25;

/** @param sizes in order, of the month before */
export function trendsOf(
  span: Span,
  { counts, sizes, now }: { counts: readonly CountRow[]; sizes: readonly StorageSize[]; now: Date },
): Trends {
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

/** All that is stored. */
export function bytesOf({ received, processed, unfinished }: StorageSize): number {
  return received + processed + unfinished;
}

function figuresOf(rows: readonly CountRow[]): Figures {
  const of = (measure: Measure, label = '') =>
    rows.filter((row) => row.measure === measure && row.label === label);
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

function lengthsOf(rows: readonly CountRow[]): Lengths | undefined {
  const histogram = new Map<number, number>();
  let all = 0;
  for (const { bucket, count } of rows) {
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
    all += count;
  }
  const [median, p95] = [quantile(histogram, 0.5), quantile(histogram, 0.95)];
  return median === undefined || p95 === undefined ? undefined : { count: all, median, p95 };
}

function reasonsOf(rows: readonly CountRow[]): { reason: string; count: number }[] {
  const failures = Map.groupBy(
    rows.filter(({ measure }) => measure === 'failure'),
    ({ label }) => label,
  );
  return [...failures]
    .map(([reason, own]) => ({ reason, count: own.reduce((sum, { count }) => sum + count, 0) }))
    .sort((a, b) => b.count - a.count);
}

function growthOver(days: number, stored: StorageSize, sizes: readonly StorageSize[]): Growth {
  const then = stored.hour.getTime() - days * PERIOD_MS.day;
  const before = sizes.findLast(({ hour }) => hour.getTime() <= then);
  if (!before) return { days, bytes: undefined };
  const isLate = stored.hour.getTime() - before.hour.getTime() > LATE * days * PERIOD_MS.day;
  return { days, bytes: isLate ? undefined : bytesOf(stored) - bytesOf(before) };
}
