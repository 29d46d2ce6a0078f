import { sql } from 'kysely';
import { EVENT_LIST } from '#catalogue/events/list.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { findPart } from '#platform/database/list/index.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { listingOf, parseWords } from '#platform/http/list/index.ts';

const MOST = 50;

/** A recording that was searched for. */
export interface FoundRecording {
  eventId: string;
  title: string;
  start: Date | null;
  seriesTitle: string;
  /** Of its processing, or else its status. */
  state: string;
}

/**
 * Recordings with all words of a text in their metadata or identifier, the newest first; those that a request of this
 * identifier has started; and one that has been deleted, by its identifier.
 */
export async function findRecordings(
  db: Queryable,
  search: string,
): Promise<{ recordings: FoundRecording[]; more: boolean }> {
  const criteria = search === '' ? undefined : { textFilter: search };
  if (search !== '') parseWords(search);
  const listing = listingOf(EVENT_LIST, { criteria, access: undefined }, NEWEST_VERSION);
  const { entries } = await findPart(db, listing, { skip: 0, take: MOST + 1 });
  const ids = entries.slice(0, MOST).map(({ shown }) => shown.id);
  const asked = search === '' ? [] : await byRequest(db, search);
  const found = await factsOf(db, [...new Set([...asked, ...ids])]);
  const deleted = search !== '' && found.length === 0 ? await deletedRecording(db, search) : undefined;
  return { recordings: deleted ? [deleted] : found, more: entries.length > MOST };
}

async function byRequest(db: Queryable, requestId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('workflows')
    .select('event_id')
    .where('request_id', '=', requestId)
    .limit(MOST)
    .execute();
  return rows.map(({ event_id }) => event_id);
}

async function factsOf(db: Queryable, ids: readonly string[]): Promise<FoundRecording[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<FoundRecording>`
    SELECT id AS "eventId", title, start_date AS start, series_title AS "seriesTitle",
      CASE WHEN processing_state = '' THEN status ELSE processing_state END AS state
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS wanted (id, place) JOIN events USING (id) ORDER BY place`.execute(
    db,
  );
  return rows;
}

async function deletedRecording(db: Queryable, id: string): Promise<FoundRecording | undefined> {
  const change = await db
    .selectFrom('changes')
    .select(['data'])
    .where('event_id', '=', id)
    .where('kind', '=', 'event.deleted')
    .limit(1)
    .executeTakeFirst();
  if (!change) return undefined;
  const { title = '' } = change.data as { title?: string };
  return { eventId: id, title, start: null, seriesTitle: '', state: 'deleted' };
}
