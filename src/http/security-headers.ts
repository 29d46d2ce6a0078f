import type { MiddlewareHandler } from 'hono';

/** What a browser may do with an answer, by the first part of its path. */
const POLICIES: Record<string, string> = {
  api: "default-src 'none'; frame-ancestors 'none'",
  admin: "frame-ancestors 'self'",
};

/**
 * Adds the headers that keep browsers from guessing types, leaking addresses and framing what is not meant to be. A
 * policy that a handler sets itself stays; pages outside `/api` and `/admin` (the watch page) get none, because
 * learning platforms show them in frames.
 */
export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Referrer-Policy', 'strict-origin-when-cross-origin');
    const policy = POLICIES[c.req.path.split('/', 2)[1] ?? ''];
    if (policy && !c.res.headers.has('Content-Security-Policy')) c.header('Content-Security-Policy', policy);
  };
}
