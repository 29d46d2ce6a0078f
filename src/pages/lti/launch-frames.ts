import type { MiddlewareHandler } from 'hono';
import { LAUNCH_PROVIDER } from '#access/sessions/launched-accounts.ts';

/** Lets learning platforms frame a page for users whom they launched. @param origins of the platforms */
export function allowLaunchFrames(origins: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const policy = c.res.headers.get('Content-Security-Policy');
    if (origins.length === 0 || !policy || c.var.signedIn?.provider !== LAUNCH_PROVIDER) return;
    const framed = policy.replace(/frame-ancestors [^;]+/, `frame-ancestors 'self' ${origins.join(' ')}`);
    c.header('Content-Security-Policy', framed);
  };
}
