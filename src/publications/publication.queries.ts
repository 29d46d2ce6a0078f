import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { isUuid } from '#platform/database/uuid.ts';
import { isStreamed, type Publication, type PublishedAddress, RENDITION_PLAYLIST } from './publication.ts';

/** Returns the publications of many events in one query, ordered by channel; none for an event that does not exist. */
export async function publicationsOfEvents(
  database: Queryable,
  eventIds: readonly string[],
): Promise<Map<string, Publication[]>> {
  const found = new Map<string, Publication[]>(eventIds.map((id) => [id, []]));
  if (eventIds.length === 0) return found;
  const rows = await publications(database)
    .where('publications.event_id', '=', sql<string>`ANY(${eventIds})`)
    .orderBy('publications.channel')
    .execute();
  for (const publication of rows) found.get(publication.event_id)?.push(publication);
  return found;
}

/** Returns the content of a watch page: a publication with its event's metadata. */
export async function findWatchableRecording(database: Queryable, publicationId: string) {
  if (!isUuid(publicationId)) return undefined;
  return publications(database)
    .innerJoin('events', 'events.id', 'publications.event_id')
    .select([
      'events.title',
      'events.presenters',
      'events.description',
      'events.start_date',
      'events.duration',
      'events.rights_holder',
      'events.license',
      'events.series_title',
    ])
    .where('publications.id', '=', publicationId)
    .executeTakeFirst();
}

/** Returns the published file with this address, or the rendition whose playlist has it. */
export async function findPublishedFile(database: Queryable, address: Required<PublishedAddress>) {
  if (!isUuid(address.publicationId) || !isUuid(address.elementId)) return undefined;
  const file = await database
    .selectFrom('publication_elements')
    .select(['object_key', 'filename', 'mediatype', 'size', 'sha256', 'properties'])
    .where('id', '=', address.elementId)
    .where('publication_id', '=', address.publicationId)
    .executeTakeFirst();
  if (!file) return undefined;
  const isPlaylist = address.filename === RENDITION_PLAYLIST && isStreamed(file);
  // Compared here, because PostgreSQL rejects some texts that clients may send (with a NUL character).
  return isPlaylist || file.filename === address.filename ? file : undefined;
}

/** Returns true if the address is published and the principal may read its event. */
export async function mayReadPublished(
  database: Queryable,
  principal: Principal,
  { publicationId, elementId, filename }: PublishedAddress,
): Promise<boolean> {
  if (!isUuid(publicationId)) return false;
  const publication = await database
    .selectFrom('publications')
    .innerJoin('events', 'events.id', 'publications.event_id')
    .select('publications.id')
    .where('publications.id', '=', publicationId)
    .where(mayAccess('events', principal, 'read'))
    .executeTakeFirst();
  if (!publication || elementId === undefined || filename === undefined) return publication !== undefined;
  return (await findPublishedFile(database, { publicationId, elementId, filename })) !== undefined;
}

function publications(database: Queryable) {
  return database
    .selectFrom('publications')
    .selectAll('publications')
    .select((eb) =>
      jsonArrayFrom(
        eb
          .selectFrom('publication_elements')
          .selectAll('publication_elements')
          .whereRef('publication_elements.publication_id', '=', 'publications.id')
          .orderBy('publication_elements.position')
          .orderBy('publication_elements.id'),
      ).as('elements'),
    );
}
