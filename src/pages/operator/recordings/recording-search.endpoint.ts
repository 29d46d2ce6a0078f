import { html } from 'hono/html';
import { sql } from 'kysely';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { EVENT_LIST } from '#catalogue/events/event-list.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { findPart } from '#platform/database/list/index.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { listingOf, parseWords } from '#platform/http/list/index.ts';
import { rootFrom } from '../../urls/relative-urls.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { moment, recordingLink, stateOf } from '../frame/page-elements.ts';
import { MAX_SEARCH, searchText } from '../frame/search-text.ts';
import { RECORDING_STYLE } from './recording.endpoint.ts';

/** Shows operators the recordings that match a title, an identifier or the identifier of a request. */
export const operatorSearch = defineEndpoint({
  method: 'get',
  path: '/admin/recordings',
  access: ADMINISTRATORS,
  query: z.object({ q: searchText('q') }),
  handle: async ({ c, query }, { database }: { database: Database }) => {
    const root = rootFrom(c);
    const search = query().q?.trim() ?? '';
    const { recordings, more } = await findRecordings(database, search);
    const content = html`${searchForm(root, search)}
${
  recordings.length === 0
    ? html`<p>${search === '' ? 'No recordings yet.' : html`No recording, and no request that started a workflow, matches <bdi>${search}</bdi>.`}</p>`
    : html`<div class="table results" tabindex="0" role="region" aria-label="Recordings"><table>
<thead><tr><th scope="col">Title</th><th scope="col">Starts (UTC)</th><th scope="col">Series</th><th scope="col">State</th></tr></thead>
<tbody>${recordings.map((recording) => resultRow(recording, root))}</tbody></table></div>
${more ? html`<p class="faint">Only the newest ${MOST} are shown.</p>` : ''}`
}`;
    return operatorPage(c, { title: 'Recordings', content, style: RECORDING_STYLE, current: 'admin/recordings' });
  },
});

function resultRow({ eventId, title, start, seriesTitle, state }: FoundRecording, root: string) {
  return html`<tr><td>${recordingLink({ eventId, title }, root)} <span class="faint"><code>${eventId}</code></span></td><td>${start === null ? '' : moment(start)}</td><td><bdi>${seriesTitle}</bdi></td><td>${stateOf(state)}</td></tr>
`;
}

/** The form that searches for recordings. */
export function searchForm(root: string, search = ''): Html {
  return html`<form class="tools" role="search" action="${root}admin/recordings"><input type="search" name="q" value="${search}" maxlength="${MAX_SEARCH}" size="40" aria-label="Title, identifier or request id" placeholder="Title, identifier or request id"><button>Search recordings</button></form>`;
}

const MOST = 50;

interface FoundRecording {
  eventId: string;
  title: string;
  start: Date | null;
  seriesTitle: string;
  /** The state of its processing, or else its status. */
  state: string;
}

/**
 * Finds the newest recordings with all words of a text in their metadata or identifier, those whose workflow was started
 * by the request with this identifier, and a deleted recording with this identifier.
 */
async function findRecordings(db: Queryable, search: string): Promise<{ recordings: FoundRecording[]; more: boolean }> {
  const criteria = search === '' ? undefined : { textFilter: search };
  if (search !== '') parseWords(search);
  const listing = listingOf(EVENT_LIST, { criteria, access: undefined }, NEWEST_VERSION);
  const { entries } = await findPart(db, listing, { skip: 0, take: MOST + 1 });
  const ids = entries.slice(0, MOST).map(({ shown }) => shown.id);
  const requested = search === '' ? [] : await byRequest(db, search);
  const found = await factsOf(db, [...new Set([...requested, ...ids])]);
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
