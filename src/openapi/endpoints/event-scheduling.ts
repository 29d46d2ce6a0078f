import { z } from 'zod';
import { INTRODUCED } from '../../http/api-changes.ts';
import { jsonText } from '../../http/schemas.ts';
import {
  Conflicts,
  MOMENT,
  Scheduling,
  SchedulingUpdate,
} from '../../recordings/schedules/scheduling.schemas.ts';
import type { Answer, Endpoint } from '../endpoint.ts';
import { CONFLICTS, EVENT_ID, SCHEDULING } from '../examples.ts';
import { TAGGED_HEADERS } from '../parameters.ts';

const MISSING = `Unable to find event with id '${EVENT_ID}'`;

/** Why scheduling information of an event that is there may be refused. */
export const UNPARSABLE_SCHEDULING = [
  `Unparsable date in scheduling information: the value of 'start' is "2030-02-30T09:00:00Z"; allowed is ${MOMENT}`,
  "Either 'end' or 'duration' must be specified",
  "Scheduling can't be changed for events whose recording has begun.",
];

/** What is in the way of a recording. */
export const CONFLICT: Answer = {
  description: 'The agent records something else then.',
  body: Conflicts,
  example: CONFLICTS,
};

/** When events are recorded, and by which capture agent. */
export const EVENT_SCHEDULING: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/events/{event_id}/scheduling',
    tag: 'Event scheduling',
    summary: 'Read the scheduling of an event',
    description: 'What is answered may be put back.',
    answers: {
      200: {
        description: 'When it is recorded, and by which agent.',
        body: Scheduling,
        example: SCHEDULING,
        headers: TAGGED_HEADERS,
      },
      204: { description: 'The event is not scheduled.' },
      304: { description: 'It has not changed since the answer with this `ETag`.' },
    },
    refusals: { 404: MISSING },
  },
  {
    method: 'put',
    path: '/api/events/{event_id}/scheduling',
    tag: 'Event scheduling',
    summary: 'Change the scheduling of an event',
    description:
      'What is left out stays, except that either `end` or `duration` is needed. Until the recording has begun.',
    form: {
      encoding: 'any',
      schema: z.object({
        scheduling: jsonText(SchedulingUpdate, 'The new scheduling information.'),
        allowConflict: z
          .string()
          .optional()
          .meta({
            description: `\`true\` lets administrators schedule what conflicts with other recordings. Version ${INTRODUCED.eventParameters.allowConflict} and higher.`,
          }),
      }),
      example: { scheduling: JSON.stringify(SCHEDULING), allowConflict: 'false' },
    },
    answers: { 204: { description: 'It has been changed.' }, 409: CONFLICT },
    refusals: {
      400: ['Unparsable scheduling information', ...UNPARSABLE_SCHEDULING],
      404: [MISSING, 'The resource you requested does not exist.'],
    },
  },
];
