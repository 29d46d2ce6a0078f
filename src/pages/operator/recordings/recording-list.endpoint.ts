import { html } from 'hono/html';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { publicationLinks, rootFrom } from '../../urls/relative-urls.ts';
import { amountOf, recordingsText } from '../frame/format-units.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { recordingLink, stateOf } from '../frame/page-elements.ts';
import {
  agentNames,
  deletedTitle,
  findRecordings,
  MOST_SORTED,
  type RecordingsPage,
} from './recording-list.queries.ts';
import { filterForm, isFiltered, listQuery, RecordingsQuery } from './recording-list-query.ts';
import { LIST_STYLE } from './recording-list-style.ts';
import { recordingTable } from './recording-table.ts';

interface Services {
  database: Database;
  definitions: WorkflowDefinitions;
  addresses: PublicationAddresses;
}

/** Shows operators all recordings, or those that match filters, with a form to act on selected ones. */
export const operatorRecordings = defineEndpoint({
  method: 'get',
  path: '/admin/recordings',
  access: ADMINISTRATORS,
  query: RecordingsQuery,
  handle: async ({ c, query }, { database, definitions, addresses }: Services) => {
    const asked = query();
    const root = rootFrom(c);
    const [page, agents] = await Promise.all([findRecordings(database, asked), agentNames(database)]);
    const thumbnailAddress = publicationLinks(c, addresses).element;
    const content = html`${filterForm(asked, agents)}
${
  page.recordings.length === 0
    ? await nothingFound(database, asked, root)
    : html`<p class="faint">${countText(page)}${page.query.sort === asked.sort ? '' : ` More than ${amountOf(MOST_SORTED)} match and are sorted by start; use more filters to sort them otherwise.`}</p>
${recordingTable(page.recordings, page.query, { root, definitions: definitions.all(), thumbnailAddress })}
${otherPages(page)}`
}`;
    return operatorPage(c, {
      title: 'Recordings',
      content,
      style: LIST_STYLE,
      current: 'admin/recordings',
      script: 'select-all.js',
    });
  },
});

async function nothingFound(database: Database, asked: RecordingsQuery, root: string): Promise<Html> {
  const search = asked.q?.trim() ?? '';
  const deleted = search === '' ? undefined : await deletedTitle(database, search);
  if (deleted !== undefined) {
    return html`<p>${recordingLink({ eventId: search, title: deleted }, root)} ${stateOf('deleted')}</p>`;
  }
  if (asked.cursor)
    return html`<p>No further recordings. <a href="recordings${listQuery(asked, { cursor: '' })}">First page</a></p>`;
  if (!isFiltered(asked)) return html`<p>No recordings yet.</p>`;
  return html`<p>No recording${search === '' ? '' : ', and no request that started a workflow,'} matches these filters.</p>`;
}

function countText({ total, recordings }: RecordingsPage): string {
  if (!total) return `${recordingsText(recordings.length)} on this page.`;
  const { count, exact } = total;
  return exact ? `${recordingsText(count)}.` : `More than ${recordingsText(count - 1)}.`;
}

function otherPages({ query: asked, previous, next }: RecordingsPage): Html | '' {
  const link = (cursor: string, name: string) => html`<a href="recordings${listQuery(asked, { cursor })}">${name}</a>`;
  const links = [
    asked.cursor ? link('', 'First page') : '',
    previous === undefined ? '' : link(previous, 'Previous page'),
    next === undefined ? '' : link(next, 'Next page'),
  ].filter((each) => each !== '');
  return links.length === 0 ? '' : html`<nav class="pages" aria-label="Further pages">${links}</nav>`;
}
