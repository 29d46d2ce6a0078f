import { z } from 'zod';
import { LenientAcl } from '../../access/acl.schemas.ts';
import { Created, CreatedEvents, Event, Events } from '../../events/event.schemas.ts';
import { EventQuery } from '../../events/query.schemas.ts';
import { INTRODUCED } from '../../http/api-changes.ts';
import { jsonText } from '../../http/schemas.ts';
import { CatalogsRequest } from '../../metadata/schemas.ts';
import { NewScheduling, SchedulingUpdate } from '../../recordings/schedules/scheduling.schemas.ts';
import { Processing } from '../../workflows/processing.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { EVENT_LIST_QUERY } from '../event-parameters.ts';
import { EVENT, EVENT_FIELDS, EVENT_ID, NEXT_EVENT_ID, SCHEDULING, sent } from '../examples.ts';
import { LIST_HEADERS } from '../list-parameters.ts';
import { CREATED_HEADERS, IDEMPOTENCY_KEY, TAGGED_HEADERS } from '../parameters.ts';
import { CONFLICT, UNPARSABLE_SCHEDULING } from './event-scheduling.ts';

const MISSING = `Cannot find an event with id '${EVENT_ID}'.`;
const UNPARSABLE = [
  'Unable to parse acl',
  "Unable to parse event metadata because: 'it is not an array of catalogs'",
  'Unable to create new event as no flavor was given for one of the metadata collections',
  "Unable to find an EventCatalogUIAdapter with Flavor 'some/flavor'",
  "Cannot find a metadata field with id 'colour' from Catalog with Flavor 'dublincore/episode'.",
  "The event metadata field with id 'title' and the metadata type 'TEXT' is required and can not be empty!.",
];
const UNSCHEDULABLE = [
  'Unable to parse scheduling information',
  "Either 'end' or 'duration' must be specified",
  "'start', 'end' and 'duration' must be specified when 'rrule' is specified",
  "Invalid RRule: FREQ=SECONDLY: FREQ is 'SECONDLY'; allowed is DAILY, WEEKLY, MONTHLY or YEARLY",
  'The date range provided did not include any events',
  "Unable to parse device: the value of 'agent_id' is missing; allowed are 1 to 255 characters, not all blank and none of them a control character",
  "Recordings cannot be sent along with an 'rrule': nothing says which of its events they belong to. Send each to its event.",
];

const parts = {
  acl: jsonText(LenientAcl, 'Who may do what.'),
  metadata: jsonText(CatalogsRequest, 'Metadata by catalog.'),
  processing: jsonText(Processing, 'Which workflow to run, and how.'),
};
const exampleParts = {
  acl: JSON.stringify([
    { allow: true, action: 'read', role: 'ROLE_STUDENT' },
    { allow: true, action: 'write', role: 'ROLE_LECTURER' },
  ]),
  metadata: JSON.stringify([{ flavor: 'dublincore/episode', fields: sent(EVENT_FIELDS) }]),
};
const recording = (whose: string) =>
  z
    .string()
    .optional()
    .meta({
      description: `${whose} A part with a file name; any container and codec.`,
      contentMediaType: 'video/*',
    });
const recordings = {
  presenter: recording('A recording of the person who speaks.'),
  presentation: recording('A recording of the slides.'),
  audio: z
    .string()
    .optional()
    .meta({ description: 'A recording of the voice.', contentMediaType: 'audio/*' }),
};

/** Events themselves. */
export const EVENTS: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/events',
    tag: 'Events',
    summary: 'List events',
    description: 'Those that the account may read, in a stable order.',
    query: EVENT_LIST_QUERY,
    answers: {
      200: { description: 'A page of events.', body: Events, example: [EVENT], headers: LIST_HEADERS },
    },
    refusals: {
      400: [
        'Unknown filter criterion in request: colour',
        'Unknown sort criterion in request: colour',
        "Filter 'start' could not be parsed: The date range string is malformed",
        'The parameter \'limit\' is "ten"; allowed is a whole number from 0 to 9007199254740991.',
      ],
    },
  },
  {
    method: 'post',
    path: '/api/events',
    tag: 'Events',
    summary: 'Create an event',
    description:
      'Takes recordings in and starts a workflow, or has recordings made: with `scheduling` the workflow starts once the recording has come. `acl`, `metadata` and `processing` are needed, tracks are not. Parts may come in any order; other parts are ignored.',
    headers: IDEMPOTENCY_KEY,
    form: {
      encoding: 'multipart',
      schema: z.object({
        ...parts,
        scheduling: jsonText(NewScheduling, 'What is to be recorded, when and by which agent.')
          .optional()
          .meta({
            'x-since': INTRODUCED.eventParameters.scheduling,
          }),
        ...recordings,
      }),
      example: {
        ...exampleParts,
        processing: JSON.stringify({ workflow: 'schedule-and-upload' }),
      },
    },
    answers: {
      200: {
        description:
          'The events that a recurrence rule gives have been created; they are in chronological order.',
        body: CreatedEvents,
        example: [{ identifier: EVENT_ID }, { identifier: NEXT_EVENT_ID }],
      },
      201: {
        description:
          'The event has been created. Unless its recording is still to come, its workflow starts.',
        body: Created,
        example: { identifier: EVENT_ID },
        headers: CREATED_HEADERS,
      },
      409: CONFLICT,
    },
    refusals: {
      400: [
        ...UNPARSABLE,
        'Unable to parse processing configuration',
        'No access control list available to create new event.',
        'No metadata list available to create new event.',
        'No processing metadata available to create new event.',
        'No workflow template in metadata',
        ...UNSCHEDULABLE,
      ],
      408: 'Nothing was received for 60 seconds.',
      409: `An event with the identifier '${EVENT_ID}' exists already.`,
      413: 'The file is larger than 107374182400 bytes.',
      415: 'The content type must be multipart/form-data.',
      422: 'The Idempotency-Key has been used for another request.',
      507: 'There is no room left to store the recording.',
    },
  },
  {
    method: 'get',
    path: '/api/events/{event_id}',
    tag: 'Events',
    summary: 'Read an event',
    description:
      'Poll with `If-None-Match` and the `ETag` of the last answer: what has not changed costs a 304.',
    query: EventQuery,
    answers: {
      200: { description: 'The event.', body: Event, example: EVENT, headers: TAGGED_HEADERS },
      304: { description: 'It has not changed since the answer with this `ETag`.' },
    },
    refusals: { 404: MISSING },
  },
  {
    method: 'post',
    path: '/api/events/{event_id}',
    tag: 'Events',
    summary: 'Update an event',
    description:
      'Only what is given changes, all of it or nothing. A new `acl` replaces the old one. `processing` and `scheduling` are for events whose recording is still to come; their recording may be sent along, once, and starts the workflow. Files for other events are ignored.',
    form: {
      encoding: 'multipart',
      schema: z
        .object({
          ...parts,
          scheduling: jsonText(SchedulingUpdate, 'When and by which agent it is to be recorded.').meta({
            'x-since': INTRODUCED.eventParameters.scheduling,
          }),
        })
        .partial()
        .extend(recordings),
      example: { ...exampleParts, scheduling: JSON.stringify(SCHEDULING) },
    },
    answers: { 204: { description: 'It has been updated.' }, 409: CONFLICT },
    refusals: {
      400: [
        'No multipart content',
        ...UNPARSABLE,
        "Processing can't be updated for events that are already uploaded.",
        'Unable to update the ACL of this event as it is currently processing.',
        'No workflow template in metadata',
        'Unable to parse scheduling information',
        ...UNPARSABLE_SCHEDULING,
      ],
      404: MISSING,
      408: 'Nothing was received for 60 seconds.',
      409: `The recording of the event '${EVENT_ID}' has come already.`,
      413: 'The file is larger than 107374182400 bytes.',
      507: 'There is no room left to store the recording.',
    },
  },
  {
    method: 'delete',
    path: '/api/events/{event_id}',
    tag: 'Events',
    summary: 'Delete an event',
    description: 'With its tracks, workflows and publications, also while it is being processed.',
    answers: { 204: { description: 'It is gone.' } },
    refusals: { 404: EVENT_ID },
  },
];
