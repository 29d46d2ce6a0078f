import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** The media type of error sentences. */
export const PLAIN_TEXT = 'text/plain; charset=utf-8';

/**
 * An error for the client: a status and a sentence. The sentence is part of the contract, because clients match it. It
 * must never hold SQL, a stack or a path of the server.
 */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly status: ContentfulStatusCode;
  readonly headers: Record<string, string>;
  constructor(status: ContentfulStatusCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }

  /** Returns the same error with more headers. */
  with(headers: Record<string, string>): HttpError {
    return new HttpError(this.status, this.message, { ...this.headers, ...headers });
  }
}

export const badRequest = (message: string) => new HttpError(400, message);
export const notFound = (message = 'The resource you requested does not exist.') => new HttpError(404, message);
export const conflict = (message: string) => new HttpError(409, message);
export const methodNotAllowed = (methods: readonly string[]) =>
  new HttpError(405, 'Method not allowed.', { Allow: methods.join(', ') });

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
