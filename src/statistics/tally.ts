import type { Fact, Measure } from './facts.ts';

/** The lengths of time over which is added up; each begins where it does in UTC. In milliseconds. */
export const PERIOD_MS = { hour: 3_600_000, day: 86_400_000 } as const;
export type Period = keyof typeof PERIOD_MS;

/** In an hour, or a day, no more reasons than these are told apart. */
export const MOST_REASONS = 20;
/** What stands for all other reasons. */
export const OTHER_REASONS = '';

/** What is to be added to a row of the table. */
export interface Tally {
  period: Period;
  start: Date;
  measure: Measure;
  label: string;
  bucket: number;
  count: number;
  sum: number;
}

/** The beginning of the hour or the day in which something was. */
export function startOf(period: Period, at: Date): Date {
  return new Date(Math.floor(at.getTime() / PERIOD_MS[period]) * PERIOD_MS[period]);
}

/** What names an hour or a day among others. */
export function nameOf({ period, start }: Pick<Tally, 'period' | 'start'>): string {
  return `${period} ${start.toISOString()}`;
}

/**
 * Adds up facts for their hours and their days: each row once.
 *
 * @param known the reasons that are told apart already, by `nameOf` of the hour or day
 */
export function tally(facts: readonly Fact[], known: ReadonlyMap<string, ReadonlySet<string>>): Tally[] {
  const reasons = new Map([...known].map(([name, labels]) => [name, new Set(labels)]));
  const rows = new Map<string, Tally>();
  for (const { at, measure, label: given, bucket, sum } of facts) {
    for (const period of ['hour', 'day'] as const) {
      const when = { period, start: startOf(period, at) };
      const label = measure === 'failure' ? toldApart(reasons, nameOf(when), given) : given;
      const key = JSON.stringify([nameOf(when), measure, label, bucket]);
      const row = rows.get(key) ?? { ...when, measure, label, bucket, count: 0, sum: 0 };
      rows.set(key, { ...row, count: row.count + 1, sum: row.sum + sum });
    }
  }
  return [...rows.values()];
}

function toldApart(reasons: Map<string, Set<string>>, name: string, reason: string): string {
  const known = reasons.get(name) ?? new Set();
  reasons.set(name, known);
  if (!known.has(reason) && known.size >= MOST_REASONS) return OTHER_REASONS;
  known.add(reason);
  return reason;
}
