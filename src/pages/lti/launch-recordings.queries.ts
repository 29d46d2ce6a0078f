import { accessCondition, mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { EVENT_LIST } from '#catalogue/events/event-list.ts';
import { SERIES_LIST } from '#catalogue/series/series-list.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { allOf, findPart } from '#platform/database/list/index.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { listingOf } from '#platform/http/list/index.ts';
import { IS_PUBLISHED, publicationsOfEvents } from '#publications/publication.queries.ts';
import { INTERNAL_CHANNEL } from '#publications/publication.ts';

/** A recording in a list of a launch. */
export interface ListedRecording {
  id: string;
  title: string;
  start: Date;
  /** The publication with a page. */
  publicationId: string;
}

interface Page {
  /** Words of titles and other metadata. */
  words?: string | undefined;
  series?: string | undefined;
  skip: number;
  take: number;
}

/** Returns a page of the published recordings that the principal may read, the newest first, and whether more follow. */
export async function listRecordings(database: Queryable, principal: Principal, { words, series, skip, take }: Page) {
  const criteria = { ...(words && { textFilter: words }), ...(series && { series }) };
  const access = allOf([mayAccess('events', principal, 'read'), IS_PUBLISHED]);
  const listing = listingOf(EVENT_LIST, { criteria, access }, NEWEST_VERSION);
  const { entries } = await findPart(database, listing, { skip, take: take + 1 });
  const events = entries.slice(0, take).map(({ shown }) => shown);
  const pages = await findPages(
    database,
    events.map(({ id }) => id),
  );
  const recordings = events.flatMap(({ id, title, start_date }): ListedRecording[] => {
    const publicationId = pages.get(id);
    return publicationId === undefined ? [] : [{ id, title, start: start_date, publicationId }];
  });
  return { recordings, hasMore: entries.length > take };
}

/** Returns the first series that the principal may read and that match the words. */
export async function listSeries(database: Queryable, principal: Principal, { words, take }: Omit<Page, 'skip'>) {
  const criteria: Record<string, string> = words ? { textFilter: words } : {};
  const listing = listingOf(
    SERIES_LIST,
    { criteria, access: accessCondition('series', principal, 'read') },
    NEWEST_VERSION,
  );
  const { entries } = await findPart(database, listing, { skip: 0, take });
  return entries.map(({ shown: { id, title } }) => ({ id, title }));
}

/** Returns the title of an event or a series that the principal may read. */
export async function findTitle(database: Queryable, principal: Principal, kind: 'events' | 'series', id: string) {
  const found = await database
    .selectFrom(kind)
    .select('title')
    .where('id', '=', id)
    .where(mayAccess(kind, principal, 'read'))
    .executeTakeFirst();
  return found?.title;
}

/** Returns the publication of an event that has a page, if the principal may read the event. */
export async function findPublishedPage(database: Queryable, principal: Principal, eventId: string) {
  const title = await findTitle(database, principal, 'events', eventId);
  return title === undefined ? undefined : (await findPages(database, [eventId])).get(eventId);
}

async function findPages(database: Queryable, eventIds: readonly string[]): Promise<Map<string, string>> {
  const published = await publicationsOfEvents(database, eventIds);
  return new Map(
    [...published].flatMap(([eventId, publications]) => {
      const shown = publications.find(({ channel }) => channel !== INTERNAL_CHANNEL);
      return shown ? [[eventId, shown.id] as const] : [];
    }),
  );
}
