import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HttpError } from './errors.ts';

/** A refusal as the reference document shows it. */
export interface ShownRefusal {
  readonly status: number;
  readonly example: string;
}

/** A declared refusal; calling it with its facts makes the error. */
export interface Refusal<Facts extends readonly unknown[] = []> extends ShownRefusal {
  (...facts: Facts): HttpError;
  /** Returns the sentence alone, for schemas. */
  sentence(...facts: Facts): string;
  /** Returns the refusal with other facts, for the reference document. */
  about(...facts: Facts): ShownRefusal;
}

/**
 * Defines a refusal once: endpoints declare it, handlers throw it, as in `throw EVENT_MISSING(id)`.
 *
 * @param example facts for the reference document
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
