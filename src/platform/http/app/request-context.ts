import { randomUUID } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from '../../telemetry/log.ts';
import { requestSeconds } from '../../telemetry/metrics.ts';
import { type Traced, type TraceHeaders, traced } from '../../telemetry/tracing.ts';
import { type ClientAddress, clientsBehind, peerAddress } from '../server/client-address.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Identifies the request in every log line, in this process and in the workers that continue its work. */
    requestId: string;
    /** The pattern of the path that a handler was found for. */
    route: string | undefined;
    /** The IP address of the client; empty without a connection. */
    client: string;
    /** The path as logs may show it. */
    shownPath: string;
    /** Logs with the request's identifier. */
    log: Logger;
    /** User name of the account that signed in; undefined when nobody did. */
    account: string | undefined;
    /** User name the account acts as, when it switched to another one. */
    runAs: string | undefined;
  }
}

export interface RequestContextOptions {
  /** Areas of which nothing below is logged. */
  secrets?: readonly string[];
  /** Paths of what machines ask all the time; no traces are kept of that. */
  untraced?: readonly string[];
  /** Who asks; the other end of the connection unless given. */
  clientAddress?: ClientAddress | undefined;
}

/** A client may send any word as a method. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const ACCEPTED_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Gives each request an identifier (the client's `X-Request-Id` when it is a plain word of up to 128 characters, a UUID
 * otherwise) and writes one log line when the answer is ready: method, path without its query, status, milliseconds,
 * account. The identifier goes back as `X-Request-Id`.
 */
export function requestContext(
  log: Logger,
  { secrets = [], untraced = [], clientAddress = clientsBehind([]) }: RequestContextOptions = {},
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
      { kind: 'server', within: traceHeaders(c), untraced: untraced.includes(c.req.path) },
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

/** Whoever asks may do so within a trace of its own. */
function traceHeaders(c: Context): TraceHeaders {
  return { traceparent: c.req.header('traceparent'), tracestate: c.req.header('tracestate') };
}

/** In the words of OpenTelemetry's conventions for HTTP. */
function describe(span: Traced, c: Context, method: string): void {
  // `c.var` makes an object of all variables each time.
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

/** Also of an address that was written in another way, and leads nowhere. */
function shownPath(path: string, secrets: readonly string[]): string {
  const lower = path.toLowerCase();
  for (const area of secrets) {
    const at = lower.indexOf(area.slice(1));
    if (at >= 0) return `${path.slice(0, at + area.length - 1)}/[redacted]`;
  }
  return path;
}
