import { type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { anonymous, type Principal } from '#access/principal.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { PREPARED } from '#platform/database/prepared.ts';
import { isUuid } from '#platform/database/uuid.ts';
import {
  INTERNAL_CHANNEL,
  isStreamed,
  type Publication,
  type PublishedAddress,
  RENDITION_PLAYLIST,
} from './publication.ts';

/** A condition on a row of `events`: it has a publication with a page. */
export const IS_PUBLISHED = sql<SqlBool>`EXISTS (SELECT FROM publications
  WHERE publications.event_id = events.id AND channel <> ${INTERNAL_CHANNEL})`;

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

/** Selects who may read an event: visitors without an account, and the principal. */
const readAccess = (principal: Principal) =>
  [
    mayAccess('events', anonymous, 'read').as('is_public'),
    mayAccess('events', principal, 'read').as('is_readable'),
  ] as const;

/** Returns the event of a publication and who may read it. */
export async function findReadAccess(database: Queryable, publicationId: string, principal: Principal) {
  if (!isUuid(publicationId)) return undefined;
  return database
    .selectFrom('publications')
    .innerJoin('events', 'events.id', 'publications.event_id')
    .select('publications.event_id')
    .select(readAccess(principal))
    .where('publications.id', '=', publicationId)
    .executeTakeFirst();
}

/** Returns the content of a watch page: a publication with its event's metadata and the read access. */
export async function findWatchableRecording(database: Queryable, publicationId: string, principal: Principal) {
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
    .select(readAccess(principal))
    .where('publications.id', '=', publicationId)
    .executeTakeFirst();
}

/** Returns the published file with this address, or the rendition whose playlist has it, and who may read it. */
export async function findPublishedFile(
  database: Queryable,
  address: Required<PublishedAddress>,
  principal: Principal,
) {
  if (!isUuid(address.publicationId) || !isUuid(address.elementId)) return undefined;
  const file = await database
    .selectFrom('publication_elements')
    .modifyFront(PREPARED)
    .innerJoin('events', 'events.id', 'publication_elements.event_id')
    .select(['object_key', 'filename', 'mediatype', 'size', 'sha256', 'properties', 'events.duration'])
    .select(readAccess(principal))
    .where('publication_elements.id', '=', address.elementId)
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
  const isPage = elementId === undefined || filename === undefined;
  const found = isPage
    ? await findReadAccess(database, publicationId, principal)
    : await findPublishedFile(database, { publicationId, elementId, filename }, principal);
  return found?.is_readable === true;
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
