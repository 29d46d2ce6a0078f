import { randomUUID } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from '../../telemetry/log.ts';
import { requestSeconds } from '../../telemetry/metrics.ts';
import { type Traced, traced } from '../../telemetry/tracing.ts';
import { type ClientAddress, peerAddress, resolveClientsBehind } from '../server/client-address.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Identifies the request in the logs of this process and of workers that continue its work. */
    requestId: string;
    route: string | undefined;
    /** The client's IP address; empty without a connection. */
    client: string;
    /** The path for logs, without secrets. */
    shownPath: string;
    log: Logger;
    account: string | undefined;
    /** User name of the account that it acts as, after a switch. */
    runAs: string | undefined;
  }
}

/** Secret and polled paths, as in `AppParts`; the client is the peer by default. */
type RequestOptions = { secrets?: readonly string[]; untraced?: readonly string[]; clientAddress?: ClientAddress };

/** Clients may send any word as a method. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const ACCEPTED_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Gives each request an identifier and logs one line per response: method, path without query, status, milliseconds,
 * account. The identifier is the client's `X-Request-Id` if it is a plain word of up to 128 characters, else a UUID;
 * the response repeats it.
 */
export function requestContext(
  log: Logger,
  { secrets = [], untraced = [], clientAddress = resolveClientsBehind([]) }: RequestOptions = {},
): MiddlewareHandler {
  return async (c, next) => {
    const started = performance.now();
    const given = c.req.header('X-Request-Id');
    const requestId = given !== undefined && ACCEPTED_ID.test(given) ? given : randomUUID();
    const method = METHODS.has(c.req.method) ? c.req.method : 'other';
    c.set('client', clientAddress(peerAddress(c), c.req.raw.headers));
    c.set('requestId', requestId);
    c.set('shownPath', shownPath(c.req.path, secrets));
    const requestLog = await traced(
      method,
      {
        kind: 'server',
        within: { traceparent: c.req.header('traceparent'), tracestate: c.req.header('tracestate') },
        untraced: untraced.includes(c.req.path),
      },
      async (span) => {
        const bound = log.child({ requestId, traceId: span.traceId });
        c.set('log', bound);
        await next();
        describe(span, c, method);
        return bound;
      },
    );
    c.header('X-Request-Id', requestId);
    const ms = performance.now() - started;
    const status = `${Math.floor(c.res.status / 100)}xx`;
    requestSeconds.observe({ method, route: c.get('route') ?? 'unmatched', status }, ms / 1000);
    requestLog.info(
      {
        method: c.req.method,
        path: c.get('shownPath'),
        status: c.res.status,
        ms: Math.round(ms),
        client: c.get('client') || undefined,
        account: c.get('account'),
        runAs: c.get('runAs'),
      },
      'request',
    );
  };
}

/** Adds attributes by the HTTP conventions of OpenTelemetry. */
function describe(span: Traced, c: Context, method: string): void {
  // `c.var` copies all variables at each access.
  const [client, requestId, shownPath] = [c.get('client'), c.get('requestId'), c.get('shownPath')];
  const route = c.get('route');
  const { status } = c.res;
  span.describe(
    {
      'http.request.method': method,
      'http.response.status_code': status,
      'url.path': shownPath,
      'inlet.request': requestId,
      ...(client && { 'client.address': client }),
      ...(route && { 'http.route': route }),
    },
    route && `${method} ${route}`,
  );
  if (status >= 500) span.fail();
}

/** Matches other spellings of a secret area too, although they lead nowhere. */
function shownPath(path: string, secrets: readonly string[]): string {
  const lower = path.toLowerCase();
  for (const area of secrets) {
    const at = lower.indexOf(area.slice(1));
    if (at >= 0) return `${path.slice(0, at + area.length - 1)}/[redacted]`;
  }
  return path;
}
