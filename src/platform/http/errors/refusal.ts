import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HttpError } from './errors.ts';

/** What a declaration shows of a refusal. */
export interface ShownRefusal {
  readonly status: number;
  /** The sentence as a client may get it. */
  readonly example: string;
}

/** A refusal that is thrown and declared: called with the facts of its sentence, it makes the error. */
export interface Refusal<Facts extends readonly unknown[] = []> extends ShownRefusal {
  (...facts: Facts): HttpError;
  /** The sentence alone, for schemas that refuse with it. */
  sentence(...facts: Facts): string;
  /** The same with other facts for the reference document. */
  about(...facts: Facts): ShownRefusal;
}

/**
 * Says once with which status and sentence something is refused: endpoints declare the refusal, code throws what it
 * makes.
 *
 * @param sentence of the facts, in the words that clients know
 * @param example facts that make the sentence of the reference document
 * @example
 * const EVENT_MISSING = refusal(404, (id: string) => `Cannot find an event with id '${id}'.`, ['0f5f3c9e']);
 * throw EVENT_MISSING(id);
 */
export function refusal(
  status: ContentfulStatusCode,
  sentence: string,
  example?: readonly [],
  headers?: Record<string, string>,
): Refusal;
export function refusal<Facts extends readonly unknown[]>(
  status: ContentfulStatusCode,
  sentence: (...facts: Facts) => string,
  example: NoInfer<Facts>,
  headers?: Record<string, string>,
): Refusal<Facts>;
export function refusal<Facts extends readonly unknown[]>(
  status: ContentfulStatusCode,
  sentence: string | ((...facts: Facts) => string),
  example?: Facts,
  headers?: Record<string, string>,
): Refusal<Facts> {
  const say = (...facts: Facts) => (typeof sentence === 'string' ? sentence : sentence(...facts));
  const make = (...facts: Facts) => new HttpError(status, say(...facts), headers);
  const about = (...facts: Facts) => ({ status, example: say(...facts) });
  return Object.assign(make, { sentence: say, about, ...about(...(example ?? ([] as unknown as Facts))) });
}
