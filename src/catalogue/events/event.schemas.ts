import { z } from 'zod';
import { Acl } from '#access/acl/acl.ts';
import { Scheduling } from '#capture/schedules/scheduling.schemas.ts';
import { shapeOf } from '#metadata/core-fields.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import { CatalogJson } from '#metadata/metadata.schemas.ts';
import { Created, flag, Instant } from '#platform/http/endpoint/endpoint-schemas.ts';
import { ProcessingState } from '#processing/workflow.schemas.ts';
import { Publications, PublicationsQuery } from '#publications/publication.schemas.ts';
import { EVENT_CHANGES, EVENT_FIELDS } from './event-versions.ts';

/** The parameters that add parts to the JSON of an event. */
export const EventQuery = z.object({
  withacl: flag('Include the access control list.'),
  withmetadata: flag('Include the metadata catalogs.'),
  withpublications: flag('Include the publications.'),
  withscheduling: flag('Include the scheduling information.').meta({ 'x-since': EVENT_CHANGES.withscheduling }),
  ...PublicationsQuery.shape,
});
export type EventQuery = z.infer<typeof EventQuery>;

/** The flags of the list of events. */
export const EventListQuery = z.object({
  onlyWithWriteAccess: flag('Only events that the account may change.'),
  ...EventQuery.shape,
});

/** The states of an event in the usual order, then its failures. */
const STATUSES = [
  ...['SCHEDULED', 'RECORDING', 'INGESTING', 'PENDING', 'PROCESSING', 'PAUSED', 'PROCESSED'],
  ...['RECORDING_FAILURE', 'PROCESSING_FAILURE', 'PROCESSING_CANCELLED'],
];

/** An event, in lists and by itself. */
export const Event = z
  .object({
    identifier: z.string(),
    ...shapeOf(EVENT_CORE_FIELDS),
    creator: z.string().describe('Name of the account that created the event.'),
    is_part_of: z.string().describe('Identifier of its series.'),
    series: z.string().describe('Title of its series.'),
    created: Instant,
    start: Instant,
    duration: z
      .int()
      .nullable()
      .optional()
      .describe('In milliseconds. Before 1.4.0, `start` and `duration` are those of the scheduled recording.'),
    processing_state: ProcessingState,
    status: z
      .string()
      .describe(`Translation key. After the prefix it is one of ${STATUSES.join(', ')}.`)
      .meta({ pattern: `^EVENTS\\.EVENTS\\.STATUS\\.(${STATUSES.join('|')})$` }),
    publication_status: z.array(z.string()).describe('Channels on which the event is published.'),
    has_previews: z.boolean().describe('True if a video editor can open the event.'),
    archive_version: z.int().optional().describe('Increases with every change of the event.'),
    acl: Acl.optional().describe('With `withacl`.'),
    metadata: z.array(CatalogJson).optional().describe('With `withmetadata`.'),
    publications: Publications.optional().describe('With `withpublications`.'),
    scheduling: z
      .union([Scheduling, z.strictObject({})])
      .optional()
      .describe('With `withscheduling`; empty if the event is not scheduled.'),
  })
  .meta({
    id: 'Event',
    'x-introduced': EVENT_FIELDS,
    'x-required-since': { duration: EVENT_CHANGES.bibliographicTimes },
  });
export type EventJson = z.infer<typeof Event>;

export const Events = z.array(Event).meta({ id: 'Events' });

/** The identifiers of new events, in chronological order. */
export const CreatedEvents = z.array(Created).meta({ id: 'CreatedEvents' });
