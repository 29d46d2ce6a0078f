import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { PUBLICATION, PUBLICATION_ID } from '#publications/examples.ts';
import {
  isAddressable,
  type PublicationAddresses,
  presentationOf,
  publicationJson,
  publicationsJson,
  publicationsOfEvents,
} from '#publications/index.ts';
import { Publication, Publications } from '#publications/publication.schemas.ts';
import { PublicationQuery, PublicationsQuery } from '#publications/query.schemas.ts';
import { EVENT_NOT_FOUND, PUBLICATION_MISSING } from '../refusals.ts';
import { eventParams } from './events.endpoints.ts';

interface PublicationServices {
  database: Database;
  addresses: PublicationAddresses;
}

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
    return versionedJson(c, publicationsJson(publications, { version, query: query() }, addresses));
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
    const presentation = presentationOf({ version, query: query() }, addresses);
    return versionedJson(c, publicationJson(publication, presentation));
  },
});
