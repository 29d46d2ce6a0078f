import { aclsOf } from '../access/acl.queries.ts';
import type { Queryable } from '../database/kysely.ts';
import { isTrue } from '../http/query.ts';
import type { ApiVersion } from '../http/version.ts';
import { type PublicationAddresses, publicationsJson, publicationsOfEvents } from '../publications/index.ts';
import type { EventExtras } from './json.ts';

/**
 * Loads what a request wants beside the events (`withacl`, `withpublications`): one query each, however many events.
 *
 * @returns the extras of an event, by its identifier
 */
export async function loadExtras(
  database: Queryable,
  eventIds: readonly string[],
  query: Record<string, string>,
  { version, ...addresses }: PublicationAddresses & { version: ApiVersion },
): Promise<(eventId: string) => EventExtras> {
  const [acls, publications] = await Promise.all([
    isTrue(query.withacl) ? aclsOf(database, 'events', eventIds) : undefined,
    isTrue(query.withpublications) ? publicationsOfEvents(database, eventIds) : undefined,
  ]);
  return (eventId) => ({
    ...(acls && { acl: acls.get(eventId) ?? [] }),
    ...(publications && {
      publications: publicationsJson(publications.get(eventId) ?? [], { version, query }, addresses),
    }),
  });
}
