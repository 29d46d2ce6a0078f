/** What came of looking at a part: `warn` is for what works and could be better. */
export interface Diagnosis {
  state: 'ok' | 'warn' | 'fail';
  /** What was found, in a sentence without its full stop. */
  found: string;
  /** What to do about it, where there is something to be done. */
  todo?: string;
}

/** A part that is looked at. */
export interface Check {
  name: string;
  /** A rejection means that the part does not work. @param signal ends it when it takes too long */
  run(signal: AbortSignal): Promise<Diagnosis | Diagnosis[]>;
  /** What to do when it rejects. */
  todo: string;
}

/** No part may keep the others waiting. */
const LIMIT_MS = 60_000;

/** Looks at each part, one after the other, whatever is wrong with those before. */
export async function* examineParts(
  checks: readonly Check[],
  limitMs = LIMIT_MS,
): AsyncGenerator<Diagnosis & { name: string }> {
  for (const { name, run, todo } of checks) {
    const limit = AbortSignal.timeout(limitMs);
    const late = new Promise<never>((_, reject) => {
      limit.addEventListener('abort', () => reject(new Error(`It takes longer than ${limitMs / 1000} s.`)), {
        once: true,
      });
    });
    try {
      const diagnoses = [await Promise.race([run(limit), late])].flat();
      for (const diagnosis of diagnoses) yield { name, ...diagnosis };
    } catch (error) {
      yield { name, state: 'fail', found: sentence(error), todo };
    }
  }
}

/** The first line of a message. Node wraps one error for each address that it tried. */
function sentence(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const text = first instanceof Error ? first.message || first.name : String(first);
  return (text.split('\n')[0] ?? '').replace(/\.$/, '');
}
