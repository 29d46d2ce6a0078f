import { apiRole } from '#access/roles/api-roles.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database } from '#platform/database/kysely.ts';
import { conditionalJson } from '#platform/http/answer/etag.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter, TAGGED_HEADERS } from '#platform/http/endpoint/schemas.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { PublicationAddresses } from '#publications/index.ts';
import { deleteEvent } from '../delete-event.ts';
import { Event, EventQuery } from '../event.schemas.ts';
import { eventJson, findEvent, loadExtras } from '../event-json.ts';
import { EVENT, EVENT_ID } from '../examples.ts';
import { EVENT_MISSING, NOTHING_TO_DELETE } from '../refusals.ts';

/** The path parameter of all endpoints of one event. */
export const eventParams = { event_id: pathParameter('Identifier of the event.', EVENT_ID) };

interface EventServices {
  database: Database;
  addresses: PublicationAddresses;
  catalogs: Pick<Catalogs, 'event'>;
}

export const readEvent = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}',
  access: apiRole('EVENTS_VIEW'),
  summary: 'Read an event',
  description: 'To poll, send the `ETag` of the last answer as `If-None-Match`; an unchanged event answers 304.',
  params: eventParams,
  query: EventQuery,
  answers: {
    200: { description: 'The event.', body: Event, example: EVENT, headers: TAGGED_HEADERS },
    304: { description: 'The event still has this `ETag`.' },
  },
  refusals: [EVENT_MISSING],
  handle: async ({ c, params, query }, { database, addresses, catalogs }: EventServices) => {
    const { principal, version } = c.var;
    const id = params.event_id;
    const event = await findEvent(database, id, principal);
    if (!event) throw EVENT_MISSING(id);
    const options = { ...addresses, version, catalogs: catalogs.event };
    const extras = await loadExtras(database, [event], query(), options);
    return conditionalJson(c, eventJson(event, version, extras(id)));
  },
});

export const removeEvent = defineEndpoint({
  method: 'delete',
  path: '/api/events/{event_id}',
  access: apiRole('EVENTS_DELETE'),
  summary: 'Delete an event',
  description: 'Also deletes its tracks, workflows and publications, even while it is being processed.',
  params: eventParams,
  answers: { 204: { description: 'The event was deleted.' } },
  refusals: [NOTHING_TO_DELETE],
  handle: async ({ c, params }, { database, staging }: { database: Database; staging: StagingLedger }) => {
    await deleteEvent(params.event_id, c.var.principal, { database, staging });
    return c.body(null, 204);
  },
});
