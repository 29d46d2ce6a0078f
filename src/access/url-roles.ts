import type { MiddlewareHandler } from 'hono';
import { forbidden, HttpError } from '../http/errors.ts';
import { requirement } from './url-rules.ts';

/** 401 with a challenge: the request needs an account. */
export function challenge(message = 'Sign in with the user name and password of an account.'): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Basic realm="Opencast"' });
}

/**
 * Lets a request pass that its URL's rule allows: 401 without an account, 403 without one of the roles. Runs after
 * `authenticate` and before `runAs`, so it is the account itself that is judged.
 */
export function requireUrlRole(): MiddlewareHandler {
  return async (c, next) => {
    const needed = requirement(c.req.method, c.req.path);
    if (needed !== 'public') {
      if (c.get('account') === undefined) throw challenge();
      const { principal } = c.var;
      if (!principal.isAdmin() && !needed.some((role) => principal.hasRole(role))) {
        throw forbidden(
          needed.length > 0
            ? `This needs the role ${needed.join(' or ')}.`
            : 'This is for administrators only.',
        );
      }
    }
    await next();
  };
}

/** For everything below `/admin`: 401 without an account, 403 for one that is no administrator. */
export function requireAdmin(): MiddlewareHandler {
  return async (c, next) => {
    if (c.get('account') === undefined) throw challenge();
    if (!c.var.principal.isAdmin()) throw forbidden('This is for administrators only.');
    await next();
  };
}
