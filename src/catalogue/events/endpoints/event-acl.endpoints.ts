import { z } from 'zod';
import { effectiveAclOf, mayAccess, requireAccess } from '#access/acl/acl.queries.ts';
import {
  ACL,
  Acl,
  allowingEntry,
  ENTRY_INCOMPLETE,
  MAX_LENGTH,
  parseStrictAcl,
  StrictAcl,
  UNREADABLE_ACL,
} from '#access/acl/acl.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { jsonText, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { ACL_FULL, ACL_LOCKED_HERE, EVENT_MISSING, NO_ACL_ENTRY } from '../event-refusals.ts';
import type { AclEdit } from '../update/event-edits.ts';
import { updateEvent } from '../update/update-event.ts';
import { eventParams } from './events.endpoints.ts';

interface Services {
  database: Database;
}

const action = pathParameter('The action that the entry allows.', 'read');

export const readEventAcl = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/acl',
  access: apiRole('EVENTS_ACL_VIEW'),
  summary: "Read an event's access control list",
  description: 'An event that has no list uses the list of its series.',
  params: eventParams,
  answers: { 200: { description: 'The list.', body: Acl, example: ACL } },
  refusals: [EVENT_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const id = params.event_id;
    const event = await database
      .selectFrom('events')
      .select(['id', 'series_id', 'own_acl'])
      .where('id', '=', id)
      .where(mayAccess('events', c.var.principal, 'read'))
      .executeTakeFirst();
    if (!event) throw EVENT_MISSING(id);
    return versionedJson(c, (await effectiveAclOf(database, event)).entries);
  },
});

export const putEventAcl = defineEndpoint({
  method: 'put',
  path: '/api/events/{event_id}/acl',
  access: apiRole('EVENTS_ACL_EDIT'),
  summary: "Replace an event's access control list",
  description:
    'The new list also replaces the one of the series for this event. `[]` gives access to administrators only. Refused while a workflow is active.',
  params: eventParams,
  form: {
    schema: z.object({ acl: jsonText(StrictAcl, 'The new list.') }),
    example: { acl: JSON.stringify(ACL) },
  },
  answers: { 204: { description: 'The list was replaced.' } },
  refusals: [UNREADABLE_ACL, ENTRY_INCOMPLETE, ACL_LOCKED_HERE, EVENT_MISSING],
  handle: async ({ c, params, form }, { database }: Services) => {
    const { principal } = c.var;
    await requireAccess(database, 'events', principal, params.event_id, 'write', EVENT_MISSING);
    const entries = parseStrictAcl((await form()).acl);
    await edit(database, principal, params.event_id, { kind: 'replace', entries });
    return c.body(null, 204);
  },
});

export const addAclEntry = defineEndpoint({
  method: 'post',
  path: '/api/events/{event_id}/acl/{action}',
  access: apiRole('EVENTS_ACL_EDIT'),
  summary: 'Allow a role an action on an event',
  description:
    'Keeps the other entries. Entries from the series are copied to the event first. Repeating the request changes nothing.',
  params: { ...eventParams, action },
  form: {
    schema: z.object({
      // Not checked here: `allowingEntry` checks the entry as a whole.
      role: z.string().meta({ description: 'The role.', maxLength: MAX_LENGTH }),
    }),
    example: { role: 'ROLE_TUTOR' },
  },
  answers: { 204: { description: 'The role is allowed the action.' } },
  refusals: [ACL_FULL, ACL_LOCKED_HERE, EVENT_MISSING],
  handle: async ({ c, params, form }, { database }: Services) => {
    const { principal } = c.var;
    await requireAccess(database, 'events', principal, params.event_id, 'write', EVENT_MISSING);
    const entry = allowingEntry(params.action, (await form()).role);
    await edit(database, principal, params.event_id, { kind: 'add', entry });
    return c.body(null, 204);
  },
});

export const removeAclEntry = defineEndpoint({
  method: 'delete',
  path: '/api/events/{event_id}/acl/{action}/{role}',
  access: apiRole('EVENTS_ACL_DELETE'),
  summary: 'Remove a permission',
  description:
    'Keeps the other entries. Entries from the series are copied to the event first. An empty list gives access to administrators only.',
  params: { ...eventParams, action, role: pathParameter('The role of the entry.', 'ROLE_STUDENT') },
  answers: { 204: { description: 'The entry was removed.' } },
  refusals: [ACL_LOCKED_HERE, EVENT_MISSING, NO_ACL_ENTRY],
  handle: async ({ c, params }, { database }: Services) => {
    const { event_id, action, role } = params;
    await edit(database, c.var.principal, event_id, { kind: 'remove', action, role });
    return c.body(null, 204);
  },
});

function edit(database: Database, principal: Principal, id: string, acl: AclEdit): Promise<unknown> {
  const refusals = { processing: () => ACL_LOCKED_HERE() };
  return inTransaction(database, (trx) => updateEvent(trx, id, { acl }, { principal, refusals }));
}
