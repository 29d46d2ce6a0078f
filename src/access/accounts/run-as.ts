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
/** Nobody but an administrator may take these from another account or ask for them. */
const GUARDED = [ROLE_ADMIN, ROLE_SUDO];

/**
 * Lets an account with `ROLE_SUDO` act as another user or with other roles, as its headers say. Replaces
 * `c.var.principal`, so events and series answer to the new one; the role that the URL needs has been asked of the
 * account itself before. A header with roles replaces all roles and adds none, not even when it is empty.
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
  const target = (await directory.find(username))?.principal;
  if (!target) throw NO_SUCH_USER();
  refuseGuarded(caller, target.roles);
  return target;
}

function givenRoles(caller: Principal, value: string): Set<string> {
  const roles = new Set(
    value
      .split(',')
      .map((role) => role.trim())
      .filter((role) => role !== ''),
  );
  refuseGuarded(caller, roles);
  return roles;
}

function refuseGuarded(caller: Principal, roles: ReadonlySet<string>): void {
  if (!caller.isAdmin() && GUARDED.some((role) => roles.has(role))) {
    throw RIGHTS_GUARDED();
  }
}

/** Header bytes beyond ASCII arrive one character each; they are UTF-8. */
function header(c: Context, names: string[]): string | undefined {
  const value = names.map((name) => c.req.header(name)).find((given) => given !== undefined);
  return value === undefined ? undefined : Buffer.from(value, 'latin1').toString('utf8');
}
