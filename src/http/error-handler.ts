import type { Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { mayPass } from '../database/retry.ts';
import { ClientGone } from './body.ts';
import { isDatabaseOutage } from './database-outage.ts';
import { HttpError, notFound, SENTENCE } from './errors.ts';

/** SQLSTATE of a text PostgreSQL cannot store: one with a NUL character or half a surrogate pair. */
const UNSTORABLE_TEXT = new Set(['22021', '22P05']);
const RETRY_SECONDS = '5';
/** A body longer than this is not received only to be thrown away. */
const WORTH_READING_BYTES = 64 * 1024;

/**
 * Makes every failure of the application a bare sentence: thrown errors, unknown paths (404) and methods a known path
 * has no handler for (405 with `Allow`). Call it before any route is added.
 */
export function handleErrors(app: Hono): void {
  app.onError(errorResponse);
  app.notFound((c) => sentence(c, notFound()));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) =>
        sentence(
          c,
          new HttpError(405, 'This resource does not know the method.', { Allow: methods.join(', ') }),
        ),
    }),
  );
}

/** The answer to an error: what it says when it is meant for the client, and no detail of anything else. */
export function errorResponse(error: Error, c: Context): Response {
  const answer = translate(error, c.get('requestId'));
  if (answer.status >= 500 && !(error instanceof HttpError)) {
    c.get('log').error({ err: error, method: c.req.method, path: c.req.path }, 'request failed');
  }
  return sentence(c, answer);
}

function translate(error: Error, requestId: string): HttpError {
  if (error instanceof HttpError) return error;
  // Nobody will read it; the status is for the log.
  if (error instanceof ClientGone) return new HttpError(400, '', { Connection: 'close' });
  if (error instanceof HTTPException) {
    return new HttpError(
      error.status as ContentfulStatusCode,
      error.message || 'The request is not acceptable.',
    );
  }
  if (isDatabaseOutage(error)) {
    return new HttpError(503, 'The database does not answer.', { 'Retry-After': RETRY_SECONDS });
  }
  if (mayPass(error)) {
    return new HttpError(503, 'Others are changing the same at this moment.', {
      'Retry-After': RETRY_SECONDS,
    });
  }
  if ('code' in error && UNSTORABLE_TEXT.has(String(error.code))) {
    return new HttpError(400, 'The request holds a character that cannot be stored.');
  }
  return new HttpError(500, `Internal server error; the log has the details under request id ${requestId}.`);
}

function sentence(c: Context, { status, message, headers }: HttpError): Response {
  return c.body(message, status, {
    'Content-Type': SENTENCE,
    ...(leavesBody(c.req.raw) && { Connection: 'close' }),
    ...headers,
  });
}

/** Whether much of the request is still to come that nobody will read. */
function leavesBody(request: Request): boolean {
  const length = request.headers.get('Content-Length');
  const long =
    length === null ? request.headers.has('Transfer-Encoding') : Number(length) > WORTH_READING_BYTES;
  return long && !request.bodyUsed;
}
