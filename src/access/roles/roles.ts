import { createHash } from 'node:crypto';
import { MAX_LENGTH } from '../acl/acl.schemas.ts';
import { API_ROLES } from './api-roles.ts';

/** Passes every check. */
export const ROLE_ADMIN = 'ROLE_ADMIN';
/** May act as another account or with other roles. */
export const ROLE_SUDO = 'ROLE_SUDO';
/** Held by all callers, signed in or not. */
export const ROLE_ANONYMOUS = 'ROLE_ANONYMOUS';
const ROLE_USER = 'ROLE_USER';
/** May report what a capture agent does, and send what it recorded. */
export const ROLE_CAPTURE_AGENT = 'ROLE_CAPTURE_AGENT';
/** The group of service accounts: everything the API can do, and acting for others. */
export const ROLE_EXTERNAL_APPLICATIONS = 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS';

const SERVICE_ROLES = [...API_ROLES, ROLE_SUDO];
/** Roles that bring other roles with them. */
const EXPANSIONS: ReadonlyMap<string, readonly string[]> = new Map([
  [ROLE_ADMIN, SERVICE_ROLES],
  [ROLE_EXTERNAL_APPLICATIONS, SERVICE_ROLES],
]);

const PLAIN = /^[A-Za-z0-9_]+$/;
const ANY_OTHER = /[^A-Za-z0-9_]/gu;

/**
 * The role that stands for one user, whoever keeps the account: `ada_l` has `ROLE_USER_ADA_L`. With a character that is no
 * ASCII letter, digit or `_`, letters keep their case, and the character becomes its code point between tildes:
 * `müller` has `ROLE_USER_m~FC~ller`. What would not fit into an access control list ends in a dot and the SHA-256 of the
 * name. So no two names have the same role, but for plain ones that differ in case alone (see `heldBy` of the directory).
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

/** The one organization, as clients expect it. */
export const ORGANIZATION = {
  adminRole: ROLE_ADMIN,
  anonymousRole: ROLE_ANONYMOUS,
  id: 'mh_default_org',
  name: 'Opencast Project',
} as const;
