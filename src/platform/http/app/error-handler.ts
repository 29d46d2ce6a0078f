import type { Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed as refuseMethods } from 'hono/method-not-allowed';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { isDatabaseOutage, isTransient } from '../../database/retry.ts';
import { HttpError, methodNotAllowed, notFound, PLAIN_TEXT, refusal } from '../errors/errors.ts';
import { ClientDisconnected, isBodyComplete } from '../form/request-body.ts';
import { isLong } from '../server/incoming-message.ts';

/** SQLSTATEs of text that PostgreSQL cannot store: a NUL character or half a surrogate pair. */
const UNSTORABLE_TEXT = new Set(['22021', '22P05']);
/** SQLSTATE of a lock timeout. */
const LOCKED = '55P03';
const RETRY = { 'Retry-After': '5' };

export const UNSTORABLE_CHARACTER = refusal(400, 'The request contains a character that cannot be stored.');
export const DATABASE_UNAVAILABLE = refusal(503, 'The database does not answer.', [], RETRY);
export const CONCURRENT_UPDATE = refusal(
  503,
  'The resource is being changed by another request. Try again.',
  [],
  RETRY,
);
export const INTERNAL_ERROR = refusal(
  500,
  (requestId: string) => `Internal server error; the log has the details under request id ${requestId}.`,
  ['6f1f1d0e-4a5f-4c0b-9a43-0f3f8b2b8a17'],
);

/** Answers a request for a path that no endpoint has; undefined to leave it unknown. */
export type AnswerUnknown = (c: Context) => Promise<Response | undefined>;

/** Turns errors, unknown paths (404) and methods (405) into plain sentences. Call it before adding routes. */
export function handleErrors(app: Hono, answers: readonly AnswerUnknown[] = []): void {
  app.onError(errorResponse);
  app.notFound(async (c) => {
    for (const answer of answers) {
      const response = await answer(c);
      if (response) return response;
    }
    return sentence(c, notFound());
  });
  app.use(refuseMethods({ app, onMethodNotAllowed: (c, methods) => sentence(c, methodNotAllowed(methods)) }));
}

/** Logs a fault and responds without its details. */
export function errorResponse(error: Error, c: Context): Response {
  const answer = toHttpError(error, c.get('requestId'));
  if (answer.status >= 500 && !(error instanceof HttpError)) {
    c.get('log').error({ err: error, method: c.req.method, path: c.get('shownPath') }, 'request failed');
  }
  return sentence(c, answer);
}

/** Reports whether another request changed or locked the resource for too long. */
export function isConcurrentUpdate(error: Error): boolean {
  return isTransient(error) || ('code' in error && error.code === LOCKED);
}

/** Returns the error that the client receives. */
export function toHttpError(error: Error, requestId: string): HttpError {
  if (error instanceof HttpError) return error;
  // The client is gone; the status is for the log.
  if (error instanceof ClientDisconnected) return new HttpError(400, '', { Connection: 'close' });
  if (error instanceof HTTPException) {
    return new HttpError(error.status as ContentfulStatusCode, error.message || 'The request is not acceptable.');
  }
  const code = 'code' in error ? String(error.code) : '';
  if (isConcurrentUpdate(error)) return CONCURRENT_UPDATE();
  if (isDatabaseOutage(error)) return DATABASE_UNAVAILABLE();
  if (UNSTORABLE_TEXT.has(code)) return UNSTORABLE_CHARACTER();
  return INTERNAL_ERROR(requestId);
}

function sentence(c: Context, { status, message, headers }: HttpError): Response {
  return c.body(message, status, {
    'Content-Type': PLAIN_TEXT,
    'Cache-Control': 'no-store',
    // Servers other than ours do not check this themselves.
    ...(isLong((name) => c.req.header(name)) && !isBodyComplete(c.req.raw) && { Connection: 'close' }),
    ...headers,
  });
}
