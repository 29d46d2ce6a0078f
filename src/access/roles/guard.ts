import type { MiddlewareHandler } from 'hono';
import type { Rules } from '../../http/endpoint/rules.ts';
import { ADMINISTRATORS_ONLY, NEEDS_ROLE, SIGN_IN } from '../refusals.ts';
import { ADMINISTRATORS } from './api-roles.ts';

/**
 * Lets a request pass that the rule of its method and path allows: 401 without an account, 403 without one of the
 * roles. What no rule mentions is for administrators only. Runs after `authenticate` and before `runAs`, so it is the
 * account itself that is judged.
 */
export function requireRole(rules: Rules): MiddlewareHandler {
  return async (c, next) => {
    const needed = rules.find(c.req.method, c.req.path)?.access ?? ADMINISTRATORS;
    if (needed !== 'public') {
      if (c.get('account') === undefined) throw SIGN_IN();
      const { principal } = c.var;
      if (!principal.isAdmin() && !needed.some((role) => principal.hasRole(role))) {
        throw needed.length > 0 ? NEEDS_ROLE(needed) : ADMINISTRATORS_ONLY();
      }
    }
    await next();
  };
}
