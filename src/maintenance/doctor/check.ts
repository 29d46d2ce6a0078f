import { withTimeout } from '#platform/process/timeout.ts';

/** The result of a check. `warn` means that the part works but could be better. */
export interface Diagnosis {
  state: 'ok' | 'warn' | 'fail';
  /** The finding, without a full stop. */
  found: string;
  todo?: string;
}

/** A check of a part. */
export interface Check {
  name: string;
  /** A rejection means that the part does not work. @param signal aborts when the check is over or takes too long */
  run(signal: AbortSignal): Promise<Diagnosis | Diagnosis[]>;
  /** The recommended action when `run` rejects. */
  todo: string;
}

/** Limit for each check. */
const LIMIT_MS = 60_000;

/** Runs the checks one after another, whatever they find. */
export async function* examineParts(checks: readonly Check[]): AsyncGenerator<Diagnosis & { name: string }> {
  for (const { name, run, todo } of checks) {
    const limit = new AbortController();
    try {
      const checked = run(limit.signal);
      const diagnoses = await withTimeout(checked, LIMIT_MS, `The check takes longer than ${LIMIT_MS / 1000} s.`);
      for (const diagnosis of [diagnoses].flat()) yield { name, ...diagnosis };
    } catch (error) {
      yield { name, state: 'fail', found: sentence(error), todo };
    } finally {
      limit.abort();
    }
  }
}

/** Returns the first line of a message. Node wraps the errors of all tried addresses in one. */
function sentence(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const text = first instanceof Error ? first.message || first.name : String(first);
  return (text.split('\n')[0] ?? '').replace(/\.$/, '');
}
