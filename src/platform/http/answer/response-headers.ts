import type { MiddlewareHandler } from 'hono';

/** A body longer than this is not made only to be measured. */
const MOST_BYTES = 2 ** 20;

/**
 * Gives the answer to `HEAD` the `Content-Length` that `GET` has, unless the body is long. The body is dropped further
 * out, and Deno, which finds neither body nor length, says 0.
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

/** Reads no further than it has to. */
async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number | undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MOST_BYTES) return undefined;
  }
  return length;
}

/**
 * Adds the headers that keep browsers from guessing types, leaking addresses and framing what is not meant to be. A
 * policy that a handler sets itself stays.
 *
 * @param areas by the first segment of their paths; elsewhere answers have no policy but their handler's, so that
 * learning platforms can show pages in frames
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
