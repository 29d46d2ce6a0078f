import { z } from 'zod';
import { refusal } from '#platform/http/errors/errors.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { isUsername } from '../accounts/accounts.ts';
import { MAX_LENGTH } from '../acl/acl.ts';

const MAX_NAME = 128;
const MAX_DESCRIPTION = 4_000;
const MAX_ROLES = 500;
const MAX_MEMBERS = 10_000;
const MAX_SHOWN = 100;

export const Group = z
  .object({
    identifier: z.string(),
    organization: z.string(),
    role: z.string().describe('The role that every member has.'),
    name: z.string(),
    description: z.string(),
    roles: z.string().describe('The roles of the members, separated by commas.'),
    members: z.string().describe('The user names of the members, separated by commas.'),
  })
  .meta({ id: 'Group' });
export type GroupJson = z.infer<typeof Group>;

export const GROUP: GroupJson = {
  identifier: 'physics_lab',
  organization: 'mh_default_org',
  role: 'ROLE_GROUP_PHYSICS_LAB',
  name: 'Physics Lab',
  description: 'Staff of the laboratory',
  roles: 'ROLE_STUDIO,ROLE_API_EVENTS_VIEW',
  members: 'ada,grace',
};

export const GROUP_MISSING = refusal(404, (id: string) => `Cannot find a group with id '${id}'.`, ['physics_lab']);
export const MEMBER_GROUP_MISSING = refusal(404, (id: string) => `Cannot find group with id '${id}'.`, ['physics_lab']);
export const GROUP_EXISTS = refusal(
  409,
  (id: string) =>
    `The group '${id}' exists. Names that differ only in case or in characters other than letters and digits share an identifier.`,
  ['physics_lab'],
);
export const ROLE_NOT_HELD = refusal(
  403,
  (role: string) => `Only a user with the role ${role} may change a group that grants it.`,
  ['ROLE_ADMIN'],
);
export const INVALID_NAME = refusal(
  400,
  `The form parameter 'name' must have 1 to ${MAX_NAME} characters, none of them a control character.`,
);
export const INVALID_DESCRIPTION = refusal(
  400,
  `The form parameter 'description' must have at most ${MAX_DESCRIPTION} characters, none of them NUL.`,
);
export const INVALID_ROLE = refusal(
  400,
  (role: string) =>
    `The form parameter 'roles' has the role '${excerpt(role, MAX_SHOWN)}'; a role has 1 to ${MAX_LENGTH} characters without blanks and control characters.`,
  ['ROLE STAFF'],
);
export const INVALID_MEMBER = refusal(
  400,
  (field: string, member: string) =>
    `The form parameter '${field}' has the user name '${excerpt(member, MAX_SHOWN)}'; a user name has 1 to 128 characters without colons, commas and control characters.`,
  ['members', 'a:b'],
);
export const TOO_MANY_ROLES = refusal(400, `A group has at most ${MAX_ROLES} roles.`);
export const TOO_MANY_MEMBERS = refusal(400, `A group has at most ${MAX_MEMBERS} members.`);

/** The parts of a group that requests change; undefined parts stay unchanged. */
export interface GroupEdit {
  name?: string;
  description?: string;
  roles?: string[];
  members?: string[];
}

/** Parses the sent fields of a group. @throws {HttpError} 400 */
export function parseGroup(fields: ReadonlyMap<string, string>): GroupEdit {
  const [name, description, roles, members] = ['name', 'description', 'roles', 'members'].map((key) => fields.get(key));
  return {
    ...(name !== undefined && { name: parseName(name) }),
    ...(description !== undefined && { description: parseDescription(description) }),
    ...(roles !== undefined && { roles: parseRoles(roles) }),
    ...(members !== undefined && { members: parseMembers(members) }),
  };
}

/** Parses the name of a new group. @throws {HttpError} 400 */
export function parseName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name) || !name.isWellFormed()) throw INVALID_NAME();
  return name;
}

/** Parses one user name. @param field for the error @throws {HttpError} 400 */
export function parseMember(text: string, field: string): string {
  const member = text.trim();
  if (!isUsername(member) || member.includes(',') || !member.isWellFormed()) throw INVALID_MEMBER(field, member);
  return member;
}

function parseDescription(text: string): string {
  const description = text.trim();
  if (description.length > MAX_DESCRIPTION || description.includes('\0') || !description.isWellFormed()) {
    throw INVALID_DESCRIPTION();
  }
  return description;
}

function parseRoles(text: string): string[] {
  const roles = listOf(text);
  if (roles.length > MAX_ROLES) throw TOO_MANY_ROLES();
  const invalid = roles.find((role) => role.length > MAX_LENGTH || /[\s\p{Cc}]/u.test(role) || !role.isWellFormed());
  if (invalid !== undefined) throw INVALID_ROLE(invalid);
  return roles;
}

function parseMembers(text: string): string[] {
  const members = listOf(text).map((member) => parseMember(member, 'members'));
  requireRoom(members.length);
  return members;
}

/** @throws {HttpError} 400 for more members than a group may have */
export function requireRoom(members: number): void {
  if (members > MAX_MEMBERS) throw TOO_MANY_MEMBERS();
}

/** Returns the distinct items of a list with commas; clients put blanks behind them. */
function listOf(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== ''))];
}
