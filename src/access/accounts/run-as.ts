import type { Context, MiddlewareHandler } from 'hono';
import {
  NEEDS_SUDO,
  NO_SUCH_ORGANIZATION,
  NO_SUCH_USER,
  ORGANIZATION_GUARDED,
  RIGHTS_GUARDED,
} from '../access-errors.ts';
import { anonymous, type Principal } from '../principal.ts';
import { ORGANIZATION, ROLE_ADMIN, ROLE_SUDO } from '../roles/roles.ts';
import type { Directory } from './directory.ts';

const USER = ['X-RUN-AS-USER', 'X-Opencast-Matterhorn-User'];
const ROLES = ['X-RUN-WITH-ROLES', 'X-Opencast-Matterhorn-Roles'];
const ORGANIZATION_HEADER = 'X-Opencast-Matterhorn-Organization';
/** Roles that only an administrator may request or act with. */
const GUARDED = [ROLE_ADMIN, ROLE_SUDO];

/**
 * Lets an account with `ROLE_SUDO` act as another user or with other roles. Replaces `c.var.principal`, so ACLs apply
 * to the new principal; endpoint roles were checked for the account itself. A roles header, even an empty one, replaces
 * all roles.
 */
export function runAs(directory: Directory): MiddlewareHandler {
  return async (c, next) => {
    requireOrganization(c);
    const username = header(c, USER)?.trim();
    const roles = header(c, ROLES);
    if (username || roles !== undefined) {
      const caller = c.var.principal;
      if (!caller.hasRole(ROLE_SUDO)) throw NEEDS_SUDO();
      const target = username ? await targetOf(directory, caller, username) : anonymous;
      const principal = roles === undefined ? target : target.withRoles(givenRoles(caller, roles));
      c.set('principal', principal);
      c.set('runAs', principal.username);
    }
    await next();
  };
}

function requireOrganization(c: Context): void {
  const organization = header(c, [ORGANIZATION_HEADER])?.trim();
  if (!organization) return;
  if (!c.get('principal').isAdmin()) throw ORGANIZATION_GUARDED();
  if (organization !== ORGANIZATION.id) throw NO_SUCH_ORGANIZATION();
}

async function targetOf(directory: Directory, caller: Principal, username: string): Promise<Principal> {
  if (username === anonymous.username) return anonymous;
  const target = await directory.findPrincipal(username);
  if (!target) throw NO_SUCH_USER();
  refuseGuarded(caller, target.roles);
  return target;
}

function givenRoles(caller: Principal, value: string): Set<string> {
  const names = value.split(',').map((role) => role.trim());
  const roles = new Set(names.filter((role) => role !== ''));
  refuseGuarded(caller, roles);
  return roles;
}

function refuseGuarded(caller: Principal, roles: ReadonlySet<string>): void {
  if (!caller.isAdmin() && GUARDED.some((role) => roles.has(role))) throw RIGHTS_GUARDED();
}

/** Decodes UTF-8: header bytes beyond ASCII arrive as one character each. */
function header(c: Context, names: string[]): string | undefined {
  const value = names.map((name) => c.req.header(name)).find((given) => given !== undefined);
  return value === undefined ? undefined : Buffer.from(value, 'latin1').toString('utf8');
}
