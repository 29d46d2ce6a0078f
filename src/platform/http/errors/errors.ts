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
