import type { MiddlewareHandler } from 'hono';

const NOTHING = "default-src 'none'; frame-ancestors 'none'";
/** What a browser may do with an answer, by the first part of its path. */
const POLICIES: Record<string, string> = {
  api: NOTHING,
  'capture-admin': NOTHING,
  // The dashboard's page asks a font of another host for nothing but looks.
  admin:
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'",
};

/**
 * Adds the headers that keep browsers from guessing types, leaking addresses and framing what is not meant to be. A
 * policy that a handler sets itself stays; pages outside these folders (the watch page) get none, because
 * learning platforms show them in frames.
 */
export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    const policy = POLICIES[c.req.path.split('/', 2)[1] ?? ''];
    if (!c.res.headers.has('Referrer-Policy')) c.header('Referrer-Policy', 'strict-origin-when-cross-origin');
    if (policy && !c.res.headers.has('Content-Security-Policy')) c.header('Content-Security-Policy', policy);
  };
}
