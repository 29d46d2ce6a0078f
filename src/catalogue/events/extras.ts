import { effectiveAclsOf } from '#access/acl/acl.queries.ts';
import { scheduleJson } from '#capture/schedules/json.ts';
import { schedulesOf } from '#capture/schedules/schedules.queries.ts';
import type { Schedule } from '#capture/states/state.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { type ApiVersion, atLeast } from '#platform/http/answer/version.ts';
import { type PublicationAddresses, publicationsJson, publicationsOfEvents } from '#publications/index.ts';
import type { EventExtras } from './json.ts';
import { metadataOfEvents } from './metadata.ts';
import type { EventRow } from './queries.ts';
import type { EventQuery } from './query.schemas.ts';
import { EVENT_CHANGES } from './versions.ts';

/**
 * Loads what a request wants beside the events (`withacl`, `withmetadata`, `withpublications`, `withscheduling`): one
 * query each at most, however many events.
 *
 * @returns the extras of an event, by its identifier
 */
export async function loadExtras(
  database: Queryable,
  events: readonly EventRow[],
  query: EventQuery,
  { version, catalogs, ...addresses }: PublicationAddresses & { version: ApiVersion; catalogs: CatalogSet },
): Promise<(eventId: string) => EventExtras> {
  const eventIds = events.map(({ id }) => id);
  const withSchedules = query.withscheduling && atLeast(version, EVENT_CHANGES.withscheduling);
  const [acls, metadata, publications, schedules] = await Promise.all([
    query.withacl ? effectiveAclsOf(database, events) : undefined,
    query.withmetadata ? metadataOfEvents(database, events, catalogs, 'withmetadata') : undefined,
    query.withpublications ? publicationsOfEvents(database, eventIds) : undefined,
    withSchedules ? schedulesOf(database, eventIds) : undefined,
  ]);
  const schedulingOf = (schedule: Schedule | undefined) => (schedule ? scheduleJson(schedule) : {});
  return (eventId) => ({
    ...(acls && { acl: acls.get(eventId)?.entries ?? [] }),
    ...(metadata && { metadata: metadata.get(eventId) ?? [] }),
    ...(schedules && { scheduling: schedulingOf(schedules.get(eventId)) }),
    ...(publications && {
      publications: publicationsJson(publications.get(eventId) ?? [], { version, query }, addresses),
    }),
  });
}
