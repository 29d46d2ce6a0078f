import type { Context } from 'hono';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { createdHeaders, EXAMPLE_URL, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { type HttpError, PLAIN_TEXT } from '#platform/http/errors/errors.ts';
import { isOneOf, type ListedResource, listDeclaration, respondWithList } from '#platform/http/list/index.ts';
import { apiRole } from '../roles/api-roles.ts';
import {
  GROUP,
  GROUP_EXISTS,
  GROUP_MISSING,
  Group,
  INVALID_DESCRIPTION,
  INVALID_MEMBER,
  INVALID_NAME,
  INVALID_ROLE,
  MEMBER_GROUP_MISSING,
  parseGroup,
  parseMember,
  parseName,
  ROLE_NOT_HELD,
  requireRoom,
  TOO_MANY_MEMBERS,
  TOO_MANY_ROLES,
} from './group.schemas.ts';
import { groupJson } from './group-json.ts';
import { requireGrantedRoles } from './group-rights.ts';
import {
  deleteGroup,
  type GroupRow,
  insertGroup,
  lockGroup,
  replaceMembers,
  shownGroup,
  updateGroup,
} from './groups.queries.ts';

const NAME = { name: 'name', expression: sql.ref('user_groups.name'), kind: 'text' } as const;
const IDENTIFIER = { name: 'identifier', expression: sql.ref('user_groups.id'), kind: 'text' } as const;

/** The list of groups. The reference no longer sorts by `members` and `roles`. */
export const GROUP_LIST: ListedResource<GroupRow> = {
  table: 'user_groups',
  shown: shownGroup,
  sorts: {
    criteria: {
      name: NAME,
      description: { name: 'description', expression: sql.ref('user_groups.description'), kind: 'text' },
      // The role is the identifier in upper case.
      role: IDENTIFIER,
      members: null,
      roles: null,
    },
    standard: { ...NAME, descending: false },
    identifier: IDENTIFIER,
  },
  filters: { name: isOneOf(NAME.expression) },
};

interface Services {
  config: { publicUrl: string };
  database: Database;
}

const PARAMS = { group_id: pathParameter('Identifier of the group.', GROUP.identifier) };
const EDITABLE = {
  description: z.string().optional().describe('The description.'),
  roles: z.string().optional().describe('The roles of the members, separated by commas. The caller needs all of them.'),
  members: z.string().optional().describe('The user names of the members, separated by commas.'),
};
const TEXT = { mediaType: PLAIN_TEXT, body: z.string(), example: '' } as const;
const EXAMPLE = { name: GROUP.name, description: GROUP.description, roles: GROUP.roles, members: GROUP.members };
const INVALID = [
  INVALID_NAME,
  INVALID_DESCRIPTION,
  INVALID_ROLE,
  TOO_MANY_ROLES,
  INVALID_MEMBER,
  TOO_MANY_MEMBERS,
  ROLE_NOT_HELD,
];

export const listGroups = defineEndpoint({
  method: 'get',
  access: apiRole('GROUPS_VIEW'),
  summary: 'List groups',
  description: 'Sorted by name. Without `limit`, all groups.',
  ...listDeclaration(GROUP_LIST, {
    path: '/api/groups',
    filter: z.string().optional(),
    filterHint: 'A repeated name matches any of the values.',
    filterExample: `name:${GROUP.name}`,
    sortExample: 'name:ASC',
    flags: {},
    page: { description: 'A page of groups.', body: z.array(Group), example: [GROUP] },
    refusals: [],
  }),
  handle: ({ c, query }, { config, database }: Services) => {
    const { sort, filter = '' } = query();
    return respondWithList(c, GROUP_LIST, {
      database,
      url: `${config.publicUrl}/api/groups`,
      access: undefined,
      sort,
      filters: [filter],
      json: async (groups) => groups.map(groupJson),
    });
  },
});

export const readGroup = defineEndpoint({
  method: 'get',
  path: '/api/groups/{group_id}',
  access: apiRole('GROUPS_VIEW'),
  summary: 'Read a group',
  description: 'With the roles that the group includes, and all members.',
  params: PARAMS,
  answers: { 200: { description: 'The group.', body: Group, example: GROUP } },
  refusals: [GROUP_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const group = await shownGroup(database, sql.val(params.group_id)).executeTakeFirst();
    if (!group) throw GROUP_MISSING(params.group_id);
    return versionedJson(c, groupJson(group));
  },
});

export const newGroup = defineEndpoint({
  method: 'post',
  path: '/api/groups',
  access: apiRole('GROUPS_CREATE'),
  summary: 'Create a group',
  description:
    'The identifier is the name in lower case, with `_` for each character other than ASCII letters, digits and `_`. Members have the role `ROLE_GROUP_` with the identifier in upper case, and the roles of the group, from their next request on.',
  form: { schema: z.object({ name: z.string().describe('The name.'), ...EDITABLE }), example: EXAMPLE },
  answers: {
    201: {
      description: 'The group was created.',
      headers: createdHeaders(`${EXAMPLE_URL}/api/groups/${GROUP.identifier}`),
    },
  },
  refusals: [...INVALID, GROUP_EXISTS],
  handle: async ({ c, fields }, { config, database }: Services) => {
    const given = await fields();
    const name = parseName(given.get('name') ?? '');
    const { members = [], ...facts } = parseGroup(given);
    // In lower case, a few letters become two characters.
    const id = name.replace(/[^A-Za-z0-9_]/gu, '_').toLowerCase();
    requireGrantedRoles(c, id, facts.roles ?? []);
    await inTransaction(database, async (trx) => {
      if (!(await insertGroup(trx, id, facts))) throw GROUP_EXISTS(id);
      await replaceMembers(trx, id, members);
    });
    logChange(c, 'group created', id, { ...facts, members });
    return c.body(null, 201, { Location: `${config.publicUrl}/api/groups/${id}` });
  },
});

export const changeGroup = defineEndpoint({
  method: 'put',
  path: '/api/groups/{group_id}',
  access: apiRole('GROUPS_EDIT'),
  summary: 'Change a group',
  description:
    'Omitted fields stay unchanged; the identifier always does. The caller needs all roles of the group, before and after the change.',
  params: PARAMS,
  form: { schema: z.object({ name: z.string().optional().describe('The name.'), ...EDITABLE }), example: EXAMPLE },
  answers: { 200: { description: 'The group was changed.' } },
  refusals: [GROUP_MISSING, ...INVALID],
  handle: async ({ c, params, fields }, { database }: Services) => {
    const id = params.group_id;
    const edit = parseGroup(await fields());
    requireGrantedRoles(c, id, edit.roles ?? []);
    await inTransaction(database, async (trx) => {
      await lockOwn(c, trx, id, GROUP_MISSING);
      await updateGroup(trx, id, edit);
    });
    logChange(c, 'group changed', id, { ...edit });
    return c.body(null, 200);
  },
});

export const removeGroup = defineEndpoint({
  method: 'delete',
  path: '/api/groups/{group_id}',
  access: apiRole('GROUPS_DELETE'),
  summary: 'Delete a group',
  description:
    'Its members lose the roles that they have only from this group. The caller needs all roles of the group.',
  params: PARAMS,
  answers: { 204: { description: 'The group was deleted.' } },
  refusals: [GROUP_MISSING, ROLE_NOT_HELD],
  handle: async ({ c, params }, { database }: Services) => {
    await inTransaction(database, async (trx) => {
      await lockOwn(c, trx, params.group_id, GROUP_MISSING);
      await deleteGroup(trx, params.group_id);
    });
    logChange(c, 'group deleted', params.group_id, {});
    return c.body(null, 204);
  },
});

export const addMember = defineEndpoint({
  method: 'post',
  path: '/api/groups/{group_id}/members',
  access: apiRole('GROUPS_EDIT'),
  summary: 'Add a member to a group',
  description: 'The user need not exist yet. The caller needs all roles of the group.',
  params: PARAMS,
  form: { schema: z.object({ member: z.string().describe('The user name.') }), example: { member: 'ada' } },
  answers: {
    200: { description: 'The user is a member. The text says if it was one already.', ...TEXT },
  },
  refusals: [MEMBER_GROUP_MISSING, INVALID_MEMBER.about('member', 'a:b'), TOO_MANY_MEMBERS, ROLE_NOT_HELD],
  handle: async ({ c, params, form }, { database }: Services) => {
    const id = params.group_id;
    const member = parseMember((await form()).member, 'member');
    const isMember = await inTransaction(database, async (trx) => {
      const { members } = await lockOwn(c, trx, id, MEMBER_GROUP_MISSING);
      if (members.includes(member)) return true;
      requireRoom(members.length + 1);
      await trx.insertInto('user_group_members').values({ group_id: id, username: member }).execute();
      return false;
    });
    if (isMember) return textAnswer(c, 'Member is already member of group.');
    logChange(c, 'group member added', id, { member });
    return textAnswer(c, '');
  },
});

export const removeMember = defineEndpoint({
  method: 'delete',
  path: '/api/groups/{group_id}/members/{member}',
  access: apiRole('GROUPS_EDIT'),
  summary: 'Remove a member from a group',
  description: 'The caller needs all roles of the group.',
  params: { ...PARAMS, member: pathParameter('User name of the member.', 'ada') },
  answers: {
    200: { description: 'The user is no member. The text says if it was none before.', ...TEXT },
  },
  refusals: [MEMBER_GROUP_MISSING, ROLE_NOT_HELD],
  handle: async ({ c, params }, { database }: Services) => {
    const { group_id: id, member } = params;
    const removed = await inTransaction(database, async (trx) => {
      await lockOwn(c, trx, id, MEMBER_GROUP_MISSING);
      const { numDeletedRows } = await trx
        .deleteFrom('user_group_members')
        .where('group_id', '=', id)
        .where('username', '=', member)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    });
    if (!removed) return textAnswer(c, 'Member is already not member of group.');
    logChange(c, 'group member removed', id, { member });
    return textAnswer(c, '');
  },
});

/** Locks a group that the caller may change. @throws {HttpError} 403, 404 */
async function lockOwn(
  c: Context,
  trx: Transaction,
  id: string,
  missing: (id: string) => HttpError,
): Promise<GroupRow> {
  const group = await lockGroup(trx, id);
  if (!group) throw missing(id);
  requireGrantedRoles(c, id, group.roles);
  return group;
}

function textAnswer(c: Context, text: string): Response {
  return c.body(text, 200, { 'Content-Type': PLAIN_TEXT });
}

function logChange(c: Context, message: string, groupId: string, facts: object): void {
  c.var.log.info({ groupId, ...facts }, message);
}
