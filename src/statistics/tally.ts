import type { Change } from '#changes/change.ts';
import { reasonKey } from '#processing/reason-key.ts';
import { INTERNAL_CHANNEL } from '#publications/publication.ts';
import { bucketOf } from './histogram.ts';

/**
 * The measures: received recordings and their bytes; the time that operations waited for a worker, and that recordings
 * took from the start of the workflow to publication, in milliseconds; finished workflows by state; reasons of
 * failures.
 */
export type Measure = 'upload' | 'waiting' | 'publishing' | 'workflow' | 'failure';

/** A counted occurrence. */
export interface Fact {
  at: Date;
  measure: Measure;
  /** The final state of a workflow or the reason of its failure; else empty. */
  label: string;
  /** The bucket of the histogram for a duration; else 0. */
  bucket: number;
  /** Bytes or milliseconds; else 0. */
  sum: number;
}

const ENDED: ReadonlySet<unknown> = new Set(['SUCCEEDED', 'FAILED', 'STOPPED']);
const NO_REASON = 'No reason was given.';

/**
 * Returns the facts of a change. A malformed change is left out: it must not block the changes after it.
 *
 * @param startOf start of the workflow that published, by the number of the change
 */
export function factsOf(change: Change, startOf: ReadonlyMap<number, Date>): Fact[] {
  const { kind, at, data } = change;
  const fact = (measure: Measure, more: Partial<Fact> = {}): Fact => ({
    ...{ at, measure, label: '', bucket: 0, sum: 0 },
    ...more,
  });
  const lasted = (measure: Measure, ms: number) =>
    fact(measure, { bucket: bucketOf(ms), sum: Math.max(0, Math.round(ms)) });
  switch (kind) {
    case 'event.created':
    case 'event.changed':
      return isAmount(data.tracks) && data.tracks > 0
        ? [fact('upload', { sum: isAmount(data.bytes) ? data.bytes : 0 })]
        : [];
    case 'operation.state':
      return data.operation_state === 'running' && isAmount(data.waited_ms) ? [lasted('waiting', data.waited_ms)] : [];
    case 'publication.published': {
      const start = startOf.get(change.number);
      return start && data.channel !== INTERNAL_CHANNEL && data.renewed !== true && data.completed !== true
        ? [lasted('publishing', at.getTime() - start.getTime())]
        : [];
    }
    case 'workflow.state': {
      if (!ENDED.has(data.state)) return [];
      const ended = fact('workflow', { label: String(data.state) });
      if (data.state !== 'FAILED') return [ended];
      const reason = typeof data.reason === 'string' ? reasonKey(data.reason) : '';
      return [ended, fact('failure', { label: reason || NO_REASON })];
    }
    default:
      return [];
  }
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The periods of the sums, in milliseconds; each begins at its UTC boundary. */
export const PERIOD_MS = { hour: 3_600_000, day: 86_400_000 } as const;
export type Period = keyof typeof PERIOD_MS;

/** The most reasons that are counted separately in an hour or a day. */
export const MOST_REASONS = 20;
/** The label of all other reasons. */
export const OTHER_REASONS = '';

/** An increment of a row of the table. */
export interface Tally extends Omit<Fact, 'at'> {
  period: Period;
  start: Date;
  count: number;
}

/** Returns the beginning of the hour or day of a time. */
export function startOf(period: Period, at: Date): Date {
  return new Date(Math.floor(at.getTime() / PERIOD_MS[period]) * PERIOD_MS[period]);
}

/** Returns the key of an hour or a day. */
export function nameOf({ period, start }: Pick<Tally, 'period' | 'start'>): string {
  return `${period} ${start.toISOString()}`;
}

/**
 * Sums facts by hour and by day: each row once.
 *
 * @param known the reasons already counted separately, by `nameOf` of the hour or day
 */
export function tally(facts: readonly Fact[], known: ReadonlyMap<string, ReadonlySet<string>>): Tally[] {
  const reasons = new Map([...known].map(([name, labels]) => [name, new Set(labels)]));
  const rows = new Map<string, Tally>();
  for (const { at, measure, label: given, bucket, sum } of facts) {
    for (const period of ['hour', 'day'] as const) {
      const when = { period, start: startOf(period, at) };
      const label = measure === 'failure' ? separateReason(reasons, nameOf(when), given) : given;
      const key = JSON.stringify([nameOf(when), measure, label, bucket]);
      const row = rows.get(key) ?? { ...when, measure, label, bucket, count: 0, sum: 0 };
      rows.set(key, { ...row, count: row.count + 1, sum: row.sum + sum });
    }
  }
  return [...rows.values()];
}

function separateReason(reasons: Map<string, Set<string>>, name: string, reason: string): string {
  const known = reasons.get(name) ?? new Set();
  reasons.set(name, known);
  if (!known.has(reason) && known.size >= MOST_REASONS) return OTHER_REASONS;
  known.add(reason);
  return reason;
}
