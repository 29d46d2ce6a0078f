import { z } from 'zod';
import { accessCondition, requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database } from '#platform/database/kysely.ts';
import { conditionalJson } from '#platform/http/answer/etag.ts';
import { atLeast, versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter, TAGGED_HEADERS } from '#platform/http/endpoint/endpoint-schemas.ts';
import { listDeclaration, respondWithList } from '#platform/http/list/index.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { publicationsOfEvents } from '#publications/publication.queries.ts';
import { Publication, PublicationQuery, Publications, PublicationsQuery } from '#publications/publication.schemas.ts';
import { PUBLICATION, PUBLICATION_ID } from '#publications/publication-examples.ts';
import {
  isAddressable,
  type PublicationAddresses,
  publicationJson,
  publicationsJson,
} from '#publications/publication-json.ts';
import { deleteEvent } from '../delete-event.ts';
import { Event, EventListQuery, EventQuery, Events } from '../event.schemas.ts';
import { EVENT, EVENT_ID, SERIES_ID } from '../event-examples.ts';
import { eventJson, findEvent, loadExtras } from '../event-json.ts';
import { EVENT_LIST, eventListJson } from '../event-list.ts';
import {
  EVENT_MISSING,
  EVENT_NOT_FOUND,
  NOTHING_TO_DELETE,
  PUBLICATION_MISSING,
  UNPARSABLE_FILTER,
} from '../event-refusals.ts';
import { EVENT_CHANGES } from '../event-versions.ts';

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

/** Lists events. Before 1.5.0 only the first parameter `filter` counts. */
export const listEvents = defineEndpoint({
  method: 'get',
  access: apiRole('EVENTS_VIEW'),
  summary: 'List events',
  description: 'Returns the events that the account may read, in a stable order.',
  ...listDeclaration(EVENT_LIST, {
    path: '/api/events',
    filter: z.union([z.string(), z.array(z.string())]).optional(),
    filterHint:
      'If `filter` is repeated, one of them must match. `start` and `technical_start` take a period `from/to`, both ends included. `agent_id` is the capture agent of a scheduled event, `technical_start` the start of its recording.',
    filterExample: `is_part_of:${SERIES_ID},textFilter:sequences`,
    sortExample: 'start_date:DESC,title:ASC',
    flags: EventListQuery.shape,
    page: { description: 'A page of events.', body: Events, example: [EVENT] },
    refusals: [UNPARSABLE_FILTER],
  }),
  handle: ({ c, query }, { database, addresses, catalogs }: EventServices) => {
    const { principal, version } = c.var;
    const wanted = query();
    const filters = c.req.queries('filter') ?? [];
    const options = { ...addresses, version, catalogs: catalogs.event };
    return respondWithList(c, EVENT_LIST, {
      database,
      url: `${addresses.publicUrl}/api/events`,
      access: accessCondition('events', principal, wanted.onlyWithWriteAccess ? 'write' : 'read'),
      sort: wanted.sort,
      filters: atLeast(version, EVENT_CHANGES.repeatedFilter) ? filters : filters.slice(0, 1),
      json: (events) => eventListJson(database, events, wanted, options),
    });
  },
});

type PublicationServices = Omit<EventServices, 'catalogs'>;

async function readPublications(database: Database, id: string, principal: Principal) {
  await requireAccess(database, 'events', principal, id, 'read', EVENT_NOT_FOUND);
  return (await publicationsOfEvents(database, [id])).get(id) ?? [];
}

export const listPublications = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/publications',
  access: apiRole('EVENTS_PUBLICATIONS_VIEW'),
  summary: 'List the publications of an event',
  description: 'Includes the media, attachments and metadata of each publication.',
  params: eventParams,
  query: PublicationsQuery,
  answers: { 200: { description: 'The publications.', body: Publications, example: [PUBLICATION] } },
  refusals: [EVENT_NOT_FOUND],
  handle: async ({ c, params, query }, { database, addresses }: PublicationServices) => {
    const { principal, version } = c.var;
    const publications = await readPublications(database, params.event_id, principal);
    return versionedJson(c, publicationsJson(publications, { ...addresses, version, ...query() }));
  },
});

export const readPublication = defineEndpoint({
  method: 'get',
  path: '/api/events/{event_id}/publications/{publication_id}',
  access: apiRole('EVENTS_PUBLICATIONS_VIEW'),
  summary: 'Read a publication of an event',
  description: 'Returns the publication as the list shows it.',
  params: {
    ...eventParams,
    publication_id: pathParameter('Identifier of the publication.', PUBLICATION_ID),
  },
  query: PublicationQuery,
  answers: { 200: { description: 'The publication.', body: Publication, example: PUBLICATION } },
  refusals: [EVENT_NOT_FOUND, PUBLICATION_MISSING],
  handle: async ({ c, params, query }, { database, addresses }: PublicationServices) => {
    const { principal, version } = c.var;
    const { event_id: id, publication_id: publicationId } = params;
    const publications = await readPublications(database, id, principal);
    const publication = publications.find((each) => each.id === publicationId);
    if (!publication || !isAddressable(publication, version)) throw PUBLICATION_MISSING(publicationId, id);
    return versionedJson(c, publicationJson(publication, { ...addresses, version, ...query() }));
  },
});
