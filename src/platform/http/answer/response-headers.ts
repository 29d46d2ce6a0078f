import type { MiddlewareHandler } from 'hono';

/** Longest body that is generated only to measure it. */
const MOST_BYTES = 2 ** 20;

/**
 * Gives HEAD the `Content-Length` of GET, unless the body is long. Deno would send 0, because the body is already
 * dropped.
 */
export function lengthForHead(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { body, headers } = c.res;
    if (c.req.method !== 'HEAD' || !body || headers.has('Content-Length')) return;
    const length = await lengthOf(body);
    c.res = new Response(null, c.res);
    if (length !== undefined) c.header('Content-Length', String(length));
  };
}

async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number | undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MOST_BYTES) return undefined;
  }
  return length;
}

/**
 * Adds headers against type sniffing, leaking URLs and framing. A policy that a handler sets is kept.
 *
 * @param areas by their first path segment; other responses have no default policy, so that learning platforms can
 * embed pages
 */
export function securityHeaders(areas: readonly { path: string; contentPolicy?: string }[]): MiddlewareHandler {
  const policies = new Map(areas.map(({ path, contentPolicy }) => [path, contentPolicy]));
  return async (c, next) => {
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    const policy = policies.get(`/${c.req.path.split('/', 2)[1] ?? ''}`);
    if (!c.res.headers.has('Referrer-Policy')) c.header('Referrer-Policy', 'strict-origin-when-cross-origin');
    if (policy && !c.res.headers.has('Content-Security-Policy')) c.header('Content-Security-Policy', policy);
  };
}
