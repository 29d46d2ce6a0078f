import type { JWTPayload } from 'jose';
import { isUsername } from '../accounts/accounts.ts';
import { Principal } from '../principal.ts';
import { accountRoles } from '../roles/roles.ts';

const PROVIDER = 'jwt';

/** Which claims of a token hold what. */
export interface ClaimNames {
  username: string;
  roles: string;
}

/** The principal a verified token stands for; undefined when its user name is missing or cannot be one. */
export function tokenPrincipal(payload: JWTPayload, names: ClaimNames): Principal | undefined {
  const username = claim(payload, names.username);
  if (typeof username !== 'string' || !username.isWellFormed() || !isUsername(username)) return undefined;
  return new Principal({
    username,
    name: plainText(payload.name),
    email: plainText(payload.email),
    provider: PROVIDER,
    roles: accountRoles(username, grantedRoles(claim(payload, names.roles))),
  });
}

/**
 * The roles that a claim grants: an array of strings, or one string with blanks or commas between roles. Whatever
 * cannot be a role is left out, as is a claim of any other type.
 */
export function grantedRoles(value: unknown): string[] {
  const list: unknown[] =
    typeof value === 'string' ? value.split(/[\s,]+/) : Array.isArray(value) ? value : [];
  return [...new Set(list.filter(isRole))];
}

/** A claim by its name, else by a path of names with dots between them; names may hold dots themselves. */
function claim(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name
    .split('.')
    .reduce<unknown>((value, key) => (isObject(value) ? member(value, key) : undefined), payload);
}

function isRole(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed() && !/[\s,\p{Cc}]/u.test(value);
}

function plainText(value: unknown): string {
  return typeof value === 'string' && value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function member(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
