import { z } from 'zod';
import { Acl, StrictAcl, StrictEntry } from '../../access/acl.schemas.ts';
import { jsonText } from '../../http/schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { ACL, EVENT_ID } from '../examples.ts';

const MISSING = `Cannot find an event with id '${EVENT_ID}'.`;

/** Who may do what with an event. */
export const EVENT_ACCESS: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/events/{event_id}/acl',
    tag: 'Event access',
    summary: "Read an event's access control list",
    description: 'An event without entries of its own has those of its series, which are not listed here.',
    answers: { 200: { description: 'The list.', body: Acl, example: ACL } },
    refusals: { 404: MISSING },
  },
  {
    method: 'put',
    path: '/api/events/{event_id}/acl',
    tag: 'Event access',
    summary: "Replace an event's access control list",
    description: 'The list that was there is gone. Not while a workflow runs.',
    form: {
      encoding: 'any',
      schema: z.object({ acl: jsonText(StrictAcl, 'The new list.') }),
      example: { acl: JSON.stringify(ACL) },
    },
    answers: { 204: { description: 'It has been replaced.' } },
    refusals: {
      400: [
        "Unable to parse acl '{' because 'it is not JSON'",
        "One of the access control elements is missing a property. The action was 'read', allow was '' and the role was 'ROLE_STUDENT'",
      ],
      404: MISSING,
    },
  },
  {
    method: 'post',
    path: '/api/events/{event_id}/acl/{action}',
    tag: 'Event access',
    summary: 'Allow a role to do something with an event',
    description: 'Other entries stay. Repeating it changes nothing.',
    form: {
      encoding: 'any',
      schema: z.object({ role: StrictEntry.shape.role.describe('The role that may do it from now on.') }),
      example: { role: 'ROLE_TUTOR' },
    },
    answers: { 204: { description: 'The role is allowed to.' } },
    refusals: { 404: MISSING },
  },
  {
    method: 'delete',
    path: '/api/events/{event_id}/acl/{action}/{role}',
    tag: 'Event access',
    summary: 'Take a permission back',
    description: 'Other entries stay.',
    answers: { 204: { description: 'There is no such entry any more.' } },
    refusals: {
      404: [MISSING, "Unable to find an access control entry with action 'read' and role 'ROLE_STUDENT'"],
    },
  },
];
