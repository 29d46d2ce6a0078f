import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Measure } from './facts.ts';
import { PERIOD_MS, startOf } from './tally.ts';

/** Of which time it is told how it went: a day by its hours, or a month by its days. */
export const SPANS = { day: { period: 'hour', slots: 24 }, month: { period: 'day', slots: 30 } } as const;
export type Span = keyof typeof SPANS;

/** What was counted in an hour or a day. */
export interface CountRow {
  start: Date;
  measure: Measure;
  label: string;
  bucket: number;
  count: number;
  sum: number;
}

/** How many bytes were stored. */
export interface StorageSize {
  hour: Date;
  /** What clients sent. */
  received: number;
  /** What processing made of it. */
  processed: number;
  /** What no event has: drafts and uploads. */
  unfinished: number;
}

/** The beginnings of the hours or days of a span, the last of which is under way. */
export function slotsOf(span: Span, now: Date): Date[] {
  const { period, slots } = SPANS[span];
  const last = startOf(period, now).getTime();
  return Array.from({ length: slots }, (_, i) => new Date(last - (slots - 1 - i) * PERIOD_MS[period]));
}

/** What was counted from the beginning of a span on. */
export async function countsOf(db: Queryable, span: Span, now: Date): Promise<CountRow[]> {
  const { rows } = await sql<CountRow>`
    SELECT start, measure, label, bucket, count, sum FROM statistics_counts
    WHERE period = ${SPANS[span].period} AND start >= ${slotsOf(span, now)[0]}
    ORDER BY start, measure, label, bucket`.execute(db);
  return rows;
}

/** How much was stored in the hours of the last month, the first first. */
export function storageOf(db: Queryable, now: Date): Promise<StorageSize[]> {
  // A day more than is told: what was stored a month ago has been measured before it.
  const since = new Date(startOf('day', now).getTime() - 31 * PERIOD_MS.day);
  return db
    .selectFrom('storage_sizes')
    .select(['hour', 'received', 'processed', 'unfinished'])
    .where('hour', '>=', since)
    .orderBy('hour')
    .execute();
}
