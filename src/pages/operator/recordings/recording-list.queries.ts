import { type Expression, type SqlBool, sql } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Queryable } from '#platform/database/kysely.ts';
import {
  COUNTED,
  type Condition,
  type Criterion,
  containsWords,
  findPart,
  hasValue,
  type Listing,
  type Order,
  type Total,
} from '#platform/database/list/index.ts';
import { decodeCursor, encodeCursor, parseWords } from '#platform/http/list/index.ts';
import { periodOf, RECORDING_STATES, type RecordingsQuery, type SortColumn, sortOf } from './recording-list-query.ts';

/** Recordings on a page of the list. */
export const PAGE = 50;
/** With more matches, a text search is sorted only by criteria along which matches are found without reading all. */
export const MOST_SORTED = 5_000;
const MOST_REQUESTED = 50;
const MOST_AGENTS = 500;

const column = (name: string) => sql.ref(`events.${name}`);
const START: Criterion = { name: 'start', expression: column('start_date'), kind: 'instant' };
/** Each has an index (sql/0009, sql/0012), for which those of a state are sorted by start. */
const CRITERIA: Readonly<Record<SortColumn, readonly Criterion[]>> = {
  start: [START],
  title: [{ name: 'title', expression: sql`${column('title')} COLLATE "und-x-icu"`, kind: 'text' }],
  series: [{ name: 'series', expression: sql`${column('series_title')} COLLATE "und-x-icu"`, kind: 'text' }],
  state: [{ name: 'state', expression: column('status'), kind: 'text' }, START],
};
const IDENTIFIER: Criterion = { name: 'identifier', expression: column('id'), kind: 'text' };

/** A recording as the list shows it. */
export type ListedRecording = Awaited<ReturnType<ReturnType<typeof shownRecording>['executeTakeFirstOrThrow']>>;

function shownRecording(db: Queryable, id: Expression<string>) {
  return db
    .selectFrom('events')
    .select(['events.id', 'title', 'series_id', 'series_title', 'start_date', 'events.duration', 'status'])
    .select((eb) =>
      jsonObjectFrom(
        eb
          .selectFrom('publication_elements as e')
          .select(['e.publication_id', 'e.id', 'e.filename'])
          .whereRef('e.event_id', '=', 'events.id')
          .where('e.publication_id', 'is not', null)
          .where('e.kind', '=', 'attachment')
          .where('e.flavor', 'like', '%/search+preview')
          .orderBy('e.position')
          .limit(1),
      ).as('thumbnail'),
    )
    .where('events.id', '=', id)
    .limit(1);
}

/** A page of the list. */
export interface RecordingsPage {
  /** The query with the order that the page has. */
  query: RecordingsQuery;
  recordings: ListedRecording[];
  /** Cursors of the pages beside it. */
  previous: string | undefined;
  next: string | undefined;
  /** The number of all recordings of the list; undefined where it is not cheap to know. */
  total: Total | undefined;
}

/** Finds a page of the recordings that match all filters, for administrators. @throws {HttpError} 400 */
export async function findRecordings(db: Queryable, asked: RecordingsQuery): Promise<RecordingsPage> {
  const conditions = await conditionsOf(db, asked);
  const query = (await isTooLargeToSort(db, asked, conditions)) ? { ...asked, sort: undefined } : asked;
  const order = orderOf(query);
  const position = query.cursor ? decodeCursor(order, query.cursor) : undefined;
  const listing: Listing<ListedRecording> = {
    table: 'events',
    order,
    isDefaultOrder: order[0]?.name === START.name,
    groups: [conditions],
    access: undefined,
    shown: shownRecording,
  };
  const { entries, total } = await findPart(db, listing, { position, skip: 0, take: PAGE + 1 });
  const more = entries.length > PAGE;
  const isBefore = position?.side === 'before';
  const shown = isBefore ? entries.slice(-PAGE) : entries.slice(0, PAGE);
  const cursor = (side: 'before' | 'after', exists: boolean) => {
    const key = (side === 'before' ? shown[0] : shown.at(-1))?.key;
    return exists && key ? encodeCursor(order, { side, key }) : undefined;
  };
  return {
    query,
    recordings: shown.map(({ shown }) => shown),
    previous: cursor('before', isBefore ? more : position !== undefined),
    next: cursor('after', isBefore || more),
    // From a position inside the list, only some totals are known.
    total: position === undefined || total.exact || total.count > COUNTED ? total : undefined,
  };
}

/** Reports whether a text search finds so much that its order would cost seconds. Further pages keep their order. */
async function isTooLargeToSort(db: Queryable, query: RecordingsQuery, conditions: Condition[]): Promise<boolean> {
  const { column } = sortOf(query);
  if (query.cursor || !query.q?.trim() || column === 'start' || column === 'state') return false;
  const tests = conditions.map(({ test }) => test);
  const { rows } = await sql<{ matched: number }>`
    SELECT count(*) AS matched FROM (
      SELECT FROM events WHERE ${sql.join(tests, sql` AND `)} LIMIT ${MOST_SORTED + 1}) AS found`.execute(db);
  return (rows[0]?.matched ?? 0) > MOST_SORTED;
}

function orderOf(query: RecordingsQuery): Order {
  const { column, descending } = sortOf(query);
  // Recordings in one state are in the order of their starts.
  const criteria = CRITERIA[column === 'state' && query.state ? 'start' : column];
  return [...criteria, IDENTIFIER].map((criterion) => ({ ...criterion, descending }));
}

async function conditionsOf(db: Queryable, query: RecordingsQuery): Promise<Condition[]> {
  const { state, agent = '', series = '', q = '' } = query;
  const { from, before } = periodOf(query);
  return [
    ...(state ? [hasValue(column('status'), RECORDING_STATES[state])] : []),
    ...(agent ? [hasValue(column('agent_id'), agent)] : []),
    ...(series ? [hasValue(column((await isSeriesId(db, series)) ? 'series_id' : 'series_title'), series)] : []),
    ...(from || before ? [startsWithin(from, before)] : []),
    ...(q.trim() ? [await textCondition(db, q.trim())] : []),
  ];
}

/** One test for both ends: each alone may match most recordings. */
function startsWithin(from: Date | undefined, before: Date | undefined): Condition {
  const start = column('start_date');
  const after = from && sql`${start} >= ${from}`;
  const until = before && sql`${start} < ${before}`;
  const test = after && until ? sql<SqlBool>`(${after} AND ${until})` : sql<SqlBool>`${after ?? until}`;
  return { test, inDefaultOrder: 'stretch' };
}

async function isSeriesId(db: Queryable, text: string): Promise<boolean> {
  const event = await db.selectFrom('events').select('id').where('series_id', '=', text).limit(1).executeTakeFirst();
  return event !== undefined;
}

/** Matches recordings with all words in their metadata, and those of a request. */
async function textCondition(db: Queryable, text: string): Promise<Condition> {
  const words = containsWords(column('search_text'), parseWords(text, "parameter 'q'"));
  const requested = await eventsOfRequest(db, text);
  return {
    test: requested.length === 0 ? words : sql<SqlBool>`(${words} OR events.id = ANY(${requested}::text[]))`,
    costly: true,
  };
}

async function eventsOfRequest(db: Queryable, requestId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('workflows')
    .select('event_id')
    .where('request_id', '=', requestId)
    .limit(MOST_REQUESTED)
    .execute();
  return rows.map(({ event_id }) => event_id);
}

/** Returns the title of a deleted recording; undefined if none with this identifier is known. */
export async function deletedTitle(db: Queryable, id: string): Promise<string | undefined> {
  const change = await db
    .selectFrom('changes')
    .select(['data'])
    .where('event_id', '=', id)
    .where('kind', '=', 'event.deleted')
    .limit(1)
    .executeTakeFirst();
  if (!change) return undefined;
  const { title = '' } = change.data as { title?: string };
  return title;
}

/** Returns the names of capture agents to choose from. */
export async function agentNames(db: Queryable): Promise<string[]> {
  const agents = await db
    .selectFrom('capture_agents')
    .select('id')
    .where('forgotten', '=', false)
    .orderBy('id')
    .limit(MOST_AGENTS)
    .execute();
  return agents.map(({ id }) => id);
}
