import { createHash } from 'node:crypto';
import { MAX_LENGTH } from '../acl/acl.ts';
import { API_ROLES } from './api-roles.ts';

/** Grants all rights. */
export const ROLE_ADMIN = 'ROLE_ADMIN';
/** Allows acting as another user or with other roles. */
export const ROLE_SUDO = 'ROLE_SUDO';
/** The role of all callers, signed in or not. */
export const ROLE_ANONYMOUS = 'ROLE_ANONYMOUS';
const ROLE_USER = 'ROLE_USER';
/** Allows reporting a capture agent's state and uploading its recordings. */
export const ROLE_CAPTURE_AGENT = 'ROLE_CAPTURE_AGENT';
/** The group of service accounts: all API roles and `ROLE_SUDO`. */
export const ROLE_EXTERNAL_APPLICATIONS = 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS';

const SERVICE_ROLES = [...API_ROLES, ROLE_SUDO];
const EXPANSIONS: ReadonlyMap<string, readonly string[]> = new Map([
  [ROLE_ADMIN, SERVICE_ROLES],
  [ROLE_EXTERNAL_APPLICATIONS, SERVICE_ROLES],
]);

const PLAIN = /^[A-Za-z0-9_]+$/;
const ANY_OTHER = /[^A-Za-z0-9_]/gu;

/**
 * Returns the role of a single user: `ada_l` has `ROLE_USER_ADA_L`. In other names, letters keep their case and each
 * character other than ASCII letters, digits and `_` becomes its code point between tildes: `müller` has
 * `ROLE_USER_m~FC~ller`. A role too long for an ACL ends in a dot and the SHA-256 of the name. Two names share a role
 * only if they are plain and differ only in case (see `heldBy` in directory.ts).
 */
export function userRole(username: string): string {
  if (PLAIN.test(username)) return `${ROLE_USER}_${username.toUpperCase()}`;
  const role = `${ROLE_USER}_${username.replace(ANY_OTHER, escaped)}`;
  if (role.length <= MAX_LENGTH) return role;
  const digest = createHash('sha256').update(username).digest('hex');
  return `${role.slice(0, MAX_LENGTH - digest.length - 1)}.${digest}`;
}

function escaped(character: string): string {
  return `~${character.codePointAt(0)?.toString(16).toUpperCase()}~`;
}

/** Returns the role of the members of a group. No user role equals it. */
export function groupRole(groupId: string): string {
  return `ROLE_GROUP_${groupId.toUpperCase()}`;
}

/** Returns granted roles with the roles that they include. */
export function withIncludedRoles(granted: readonly string[]): string[] {
  return [...granted, ...granted.flatMap((role) => EXPANSIONS.get(role) ?? [])];
}

/** Returns all roles of an account: granted, included and default roles. */
export function accountRoles(username: string, granted: readonly string[]): Set<string> {
  return new Set([...withIncludedRoles(granted), ROLE_USER, userRole(username), ROLE_ANONYMOUS]);
}

/** The only organization, with the values clients expect. */
export const ORGANIZATION = {
  adminRole: ROLE_ADMIN,
  anonymousRole: ROLE_ANONYMOUS,
  id: 'mh_default_org',
  name: 'Opencast Project',
} as const;
