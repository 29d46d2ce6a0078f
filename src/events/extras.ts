import type { Queryable } from '../database/kysely.ts';
import { isTrue } from '../http/query.ts';
import type { ApiVersion } from '../http/version.ts';
import { publicationJson, publicationsOfEvents } from '../publications/index.ts';
import type { EventExtras } from './json.ts';
import { aclsOfEvents } from './queries.ts';

/**
 * Loads what a request wants beside the events (`withacl`, `withpublications`): one query each, however many events.
 *
 * @returns the extras of an event, by its identifier
 */
export async function loadExtras(
  database: Queryable,
  eventIds: readonly string[],
  query: Record<string, string>,
  { publicUrl, version }: { publicUrl: string; version: ApiVersion },
): Promise<(eventId: string) => EventExtras> {
  const [acls, publications] = await Promise.all([
    isTrue(query.withacl) ? aclsOfEvents(database, eventIds) : undefined,
    isTrue(query.withpublications) ? publicationsOfEvents(database, eventIds) : undefined,
  ]);
  return (eventId) => ({
    ...(acls && { acl: acls.get(eventId) ?? [] }),
    ...(publications && {
      publications: (publications.get(eventId) ?? []).map((each) =>
        publicationJson(each, { publicUrl, version }),
      ),
    }),
  });
}
