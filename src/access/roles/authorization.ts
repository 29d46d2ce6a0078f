import type { MiddlewareHandler } from 'hono';
import type { Rules } from '#platform/http/endpoint/rules.ts';
import { methodNotAllowed } from '#platform/http/errors/errors.ts';
import { ADMINISTRATORS_ONLY, NEEDS_ROLE, SIGN_IN } from '../access-errors.ts';
import { ADMINISTRATORS } from './api-roles.ts';

/**
 * Enforces the access rule of method and path: 401 without an account, 403 without a required role, 405 if other
 * methods of the path are implemented. A path without a rule requires an administrator. Runs after `authenticate` and
 * before `runAs`, so it checks the account itself.
 *
 * @param served the rules of the implemented endpoints
 */
export function requireRole(rules: Rules, served = rules): MiddlewareHandler {
  return async (c, next) => {
    const { method, path } = c.req;
    const rule = rules.find(method, path);
    const needed = rule?.access ?? ADMINISTRATORS;
    if (needed !== 'public') {
      if (c.get('account') === undefined) throw SIGN_IN();
      const principal = c.get('principal');
      if (!principal.isAdmin() && !needed.some((role) => principal.hasRole(role))) {
        const methods = rule ? [] : served.methods(path);
        if (methods.length > 0) throw methodNotAllowed(methods);
        throw needed.length > 0 ? NEEDS_ROLE(needed) : ADMINISTRATORS_ONLY();
      }
    }
    await next();
  };
}
