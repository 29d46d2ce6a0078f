import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import type { WorkflowDefinition } from '#processing/workflow-definition.ts';
import type { FileAddress } from '../../urls/relative-urls.ts';
import { clockOf } from '../frame/format-units.ts';
import { cutLink, moment, recordingLink, stateOf } from '../frame/page-elements.ts';
import type { ListedRecording } from './recording-list.queries.ts';
import {
  listQuery,
  RECORDING_STATES,
  type RecordingsQuery,
  SORT_COLUMNS,
  type SortColumn,
  sortOf,
} from './recording-list-query.ts';

interface TableSetting {
  /** The relative URL of the server's root. */
  root: string;
  definitions: readonly WorkflowDefinition[];
  thumbnailAddress: FileAddress;
}

/**
 * A table of recordings in a form that sends the selected ones with an action. Its first button is the one that Enter in
 * a checkbox presses, and does nothing. After Back, browsers would select by the place in the list, which may hold another
 * recording by then.
 */
export function recordingTable(
  recordings: readonly ListedRecording[],
  query: RecordingsQuery,
  { root, definitions, thumbnailAddress }: TableSetting,
): Html {
  return html`<form class="selection" method="post" action="recordings" autocomplete="off">
<button formmethod="dialog" hidden></button>
<input type="hidden" name="list" value="${listQuery(query).slice(1)}">
<div class="table results" tabindex="0" role="region" aria-label="Recordings"><table>
<thead><tr><th scope="col" data-select-all><span class="unseen">Select</span></th><th scope="col"><span class="unseen">Picture</span></th>${sortHeading('title', 'Title', query)}${sortHeading('series', 'Series', query)}${sortHeading('start', 'Starts (UTC)', query)}<th scope="col">Length</th>${sortHeading('state', 'State', query)}</tr></thead>
<tbody>
${recordings.map((recording) => rowOf(recording, { root, thumbnailAddress }))}</tbody></table></div>
<div class="actions selected" role="group" aria-label="Actions for selected recordings"><span class="faint" data-selected role="status">Selected recordings:</span>
<button class="quiet" name="action" value="retry">Retry</button>
<button class="quiet" name="action" value="publish">Publish</button>
<button class="quiet" name="action" value="retract">Retract</button>
<span class="start"><select name="definition" aria-label="Workflow">${definitions.map(({ id, title }) => html`<option value="${id}">${title}</option>`)}</select> <button class="quiet" name="action" value="start">Start workflow</button></span>
<button class="danger" name="action" value="delete">Delete …</button></div>
</form>`;
}

/** A heading that sorts the list by its column; in the other direction if the list is sorted by it. */
function sortHeading(column: SortColumn, name: string, query: RecordingsQuery): Html {
  const current = sortOf(query);
  const isCurrent = current.column === column;
  const direction = isCurrent ? (current.descending ? 'asc' : 'desc') : SORT_COLUMNS[column];
  const address = `recordings${listQuery(query, { sort: `${column}:${direction}`, cursor: '' })}`;
  const sorted = isCurrent ? raw(` aria-sort="${current.descending ? 'descending' : 'ascending'}"`) : '';
  return html`<th scope="col"${sorted}><a href="${address}">${name}</a></th>`;
}

function rowOf(
  { id, title, series_id, series_title, start_date, duration, status, thumbnail }: ListedRecording,
  { root, thumbnailAddress }: Pick<TableSetting, 'root' | 'thumbnailAddress'>,
): Html {
  const series = html`<bdi>${series_title || series_id}</bdi>`;
  const name = title.trim() || 'Untitled';
  return html`<tr><td><input type="checkbox" name="event" value="${id}" aria-label="Select ${name}"></td><td>${thumbnail ? html`<img src="${thumbnailAddress(thumbnail)}" alt="" width="96" height="54" loading="lazy">` : html`<span class="picture"></span>`}</td><td>${recordingLink({ eventId: id, title }, root)}</td><td>${series_id === null ? '' : html`<a href="recordings${listQuery({}, { series: series_id })}">${series}</a>`}</td><td>${moment(start_date)}</td><td>${duration === null ? '' : clockOf(Number(duration))}</td><td>${stateOf(stateName(status))}${stateName(status) === 'paused' ? html` ${cutLink({ eventId: id, title }, root)}` : ''}</td></tr>
`;
}

function stateName(status: string): string {
  return Object.entries(RECORDING_STATES).find(([, stored]) => stored === status)?.[0] ?? status;
}
