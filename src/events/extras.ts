import { aclsOf } from '../access/acl.queries.ts';
import type { Queryable } from '../database/kysely.ts';
import { isTrue } from '../http/query.ts';
import type { ApiVersion } from '../http/version.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { type PublicationAddresses, publicationsJson, publicationsOfEvents } from '../publications/index.ts';
import type { EventExtras } from './json.ts';
import { metadataOfEvents } from './metadata.ts';
import type { EventRow } from './queries.ts';

/**
 * Loads what a request wants beside the events (`withacl`, `withmetadata`, `withpublications`, `withscheduling`): one
 * query each at most, however many events.
 *
 * @returns the extras of an event, by its identifier
 */
export async function loadExtras(
  database: Queryable,
  events: readonly EventRow[],
  query: Record<string, string>,
  { version, catalogs, ...addresses }: PublicationAddresses & { version: ApiVersion; catalogs: CatalogSet },
): Promise<(eventId: string) => EventExtras> {
  const eventIds = events.map(({ id }) => id);
  const scheduling = isTrue(query.withscheduling);
  const [acls, metadata, publications] = await Promise.all([
    isTrue(query.withacl) ? aclsOf(database, 'events', eventIds) : undefined,
    isTrue(query.withmetadata) ? metadataOfEvents(database, events, catalogs, 'withmetadata') : undefined,
    isTrue(query.withpublications) ? publicationsOfEvents(database, eventIds) : undefined,
  ]);
  return (eventId) => ({
    ...(acls && { acl: acls.get(eventId) ?? [] }),
    ...(metadata && { metadata: metadata.get(eventId) ?? [] }),
    ...(scheduling && { scheduling: {} }),
    ...(publications && {
      publications: publicationsJson(publications.get(eventId) ?? [], { version, query }, addresses),
    }),
  });
}
