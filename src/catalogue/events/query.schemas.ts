import { z } from 'zod';
import { flag } from '#platform/http/endpoint/query.schemas.ts';
import { PublicationsQuery } from '#publications/query.schemas.ts';
import { EVENT_CHANGES } from './versions.ts';

/** What else to answer of an event. */
export const EventQuery = z.object({
  withacl: flag('Also answer the access control list.'),
  withmetadata: flag('Also answer the metadata catalogs.'),
  withpublications: flag('Also answer the publications.'),
  withscheduling: flag('Also answer the scheduling information.').meta({
    'x-since': EVENT_CHANGES.withscheduling,
  }),
  ...PublicationsQuery.shape,
});
export type EventQuery = z.infer<typeof EventQuery>;

/** The switches of the list of events; what it is filtered and sorted by has grammars of its own. */
export const EventListQuery = z.object({
  onlyWithWriteAccess: flag('Only events that the account may change.'),
  ...EventQuery.shape,
});
