import { API_ROLES } from './api-roles.ts';

/** Passes every check. */
export const ROLE_ADMIN = 'ROLE_ADMIN';
/** May act as another account or with other roles. */
export const ROLE_SUDO = 'ROLE_SUDO';
/** Everybody has it, also who is signed in: what is open to the public is open to all. */
export const ROLE_ANONYMOUS = 'ROLE_ANONYMOUS';
const ROLE_USER = 'ROLE_USER';
/** The group of service accounts: everything the API can do, and acting for others. */
export const ROLE_EXTERNAL_APPLICATIONS = 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS';

const SERVICE_ROLES = [...API_ROLES, ROLE_SUDO];
/** Roles that bring other roles with them. */
const EXPANSIONS: ReadonlyMap<string, readonly string[]> = new Map([
  [ROLE_ADMIN, SERVICE_ROLES],
  [ROLE_EXTERNAL_APPLICATIONS, SERVICE_ROLES],
]);

/** The role that stands for one account: `a.lovelace` has `ROLE_USER_A_LOVELACE`. */
export function userRole(username: string): string {
  return `ROLE_USER_${username.replace(/[^a-zA-Z0-9]/g, '_').toUpperCase()}`;
}

/** All roles of an account: the granted ones, what they bring, and those every account has. */
export function accountRoles(username: string, granted: readonly string[]): Set<string> {
  return new Set([
    ...granted,
    ...granted.flatMap((role) => EXPANSIONS.get(role) ?? []),
    ROLE_USER,
    userRole(username),
    ROLE_ANONYMOUS,
  ]);
}
