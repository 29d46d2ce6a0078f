import type { MiddlewareHandler } from 'hono';

/**
 * Adds the headers that keep browsers from guessing types, leaking addresses and framing what is not meant to be. A
 * policy that a handler sets itself stays.
 *
 * @param areas by the first segment of their paths; elsewhere answers have no policy but their handler's, so that
 * learning platforms can show pages in frames
 */
export function securityHeaders(
  areas: readonly { path: string; contentPolicy?: string }[],
): MiddlewareHandler {
  const policies = new Map(areas.map(({ path, contentPolicy }) => [path, contentPolicy]));
  return async (c, next) => {
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    const policy = policies.get(`/${c.req.path.split('/', 2)[1] ?? ''}`);
    if (!c.res.headers.has('Referrer-Policy')) c.header('Referrer-Policy', 'strict-origin-when-cross-origin');
    if (policy && !c.res.headers.has('Content-Security-Policy')) c.header('Content-Security-Policy', policy);
  };
}
