import type { Context } from 'hono';
import { groupRole, withIncludedRoles } from '../roles/roles.ts';
import { ROLE_NOT_HELD } from './group.schemas.ts';

/**
 * Requires a caller that has all roles that a group grants, so that no group gives its editor more rights. The role of
 * the group itself is granted by those who may edit groups. A caller that acts as another user needs the roles twice:
 * acting with roles does not include the endpoints of these roles.
 *
 * @throws {HttpError} 403
 */
export function requireGrantedRoles(c: Context, id: string, roles: readonly string[]): void {
  const own = groupRole(id);
  const callers = [c.var.principal, c.var.signedIn ?? c.var.principal];
  const missing = withIncludedRoles([own, ...roles]).find(
    (role) => role !== own && !callers.every((caller) => caller.isAdmin() || caller.hasRole(role)),
  );
  if (missing !== undefined) throw ROLE_NOT_HELD(missing);
}
