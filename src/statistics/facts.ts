import type { Change } from '#changes/change.ts';
import { reasonKey } from '#processing/reason-key.ts';
import { INTERNAL_CHANNEL } from '#publications/model.ts';
import { bucketOf } from './histogram.ts';

/**
 * What is counted: recordings that came, with their bytes; how long operations waited for a worker, and recordings for
 * their publication since the start of the workflow, in milliseconds; workflows that ended, by state; and why they failed.
 */
export type Measure = 'upload' | 'waiting' | 'publishing' | 'workflow' | 'failure';

/** One thing that is counted. */
export interface Fact {
  at: Date;
  measure: Measure;
  /** The state in which a workflow ended, or the reason why it failed; else empty. */
  label: string;
  /** Of a length of time, that of the histogram; else 0. */
  bucket: number;
  /** Bytes or milliseconds; else 0. */
  sum: number;
}

const ENDED: ReadonlySet<unknown> = new Set(['SUCCEEDED', 'FAILED', 'STOPPED']);
const NO_REASON = 'No reason was given.';

/**
 * What of a change is counted. One that is not as it should be is left out: it must not hold up those after it.
 *
 * @param startOf when the workflow began that published, by the number of the change
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
      return data.operation_state === 'running' && isAmount(data.waited_ms)
        ? [lasted('waiting', data.waited_ms)]
        : [];
    case 'publication.published': {
      const start = startOf.get(change.number);
      return start && data.channel !== INTERNAL_CHANNEL && data.renewed !== true
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
