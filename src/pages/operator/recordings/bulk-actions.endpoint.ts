import type { Context } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { toHttpError } from '#platform/http/app/error-handler.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import { rootFrom } from '../../urls/relative-urls.ts';
import { recordingsText } from '../frame/format-units.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { recordingLink } from '../frame/page-elements.ts';
import {
  actOnAll,
  type BulkAction,
  type BulkServices,
  type Outcome,
  readSelected,
  type SelectedRecording,
} from './bulk-actions.ts';
import { PAGE } from './recording-list.queries.ts';
import { LIST_STYLE } from './recording-list-style.ts';

/** The list selects the recordings of one page. */
const MAX_SELECTED = PAGE;

const BulkForm = z.object({
  event: z.string({
    error: `No recording is selected: the form parameter 'event' is missing; select 1 to ${MAX_SELECTED} recordings.`,
  }),
  action: z.enum(['retry', 'publish', 'retract', 'start', 'delete']),
  /** The workflow to start. */
  definition: z.string().optional(),
  /** Given by the page that names the recordings to delete. */
  confirmed: z.literal('true').optional(),
  /** The query of the list to return to. */
  list: z.string().default(''),
});
type BulkForm = z.infer<typeof BulkForm>;

/** Acts on the selected recordings and reports the result for each. Deletion asks for confirmation first. */
export const operatorBulkAction = defineEndpoint({
  method: 'post',
  path: '/admin/recordings',
  access: ADMINISTRATORS,
  form: { schema: BulkForm, example: { event: 'e1f2d9cc-4a5f-4c0b-9a43-0f3f8b2b8a17', action: 'retry' } },
  handle: async ({ c, form, fieldList }, services: BulkServices) => {
    const asked = await form();
    const ids = selectedIds(await fieldList());
    const action = actionOf(asked, services.definitions);
    const { principal, requestId } = c.var;
    const selected = await readSelected(services.database, ids);
    if (action === 'delete' && !asked.confirmed) return confirmationPage(c, selected, asked);
    const onFault = (error: Error) => {
      c.var.log.error({ err: error }, 'an action on several recordings failed');
      return toHttpError(error, requestId).message;
    };
    const outcomes = await actOnAll(action, selected, { source: { principal, requestId }, services, onFault });
    return resultPage(c, outcomes, asked);
  },
});

function selectedIds(fields: readonly (readonly [name: string, value: string])[]): string[] {
  const ids = [...new Set(fields.filter(([name]) => name === 'event').map(([, value]) => value))];
  if (ids.length <= MAX_SELECTED) return ids;
  throw badRequest(`The form parameter 'event' names ${ids.length} recordings; allowed are 1 to ${MAX_SELECTED}.`);
}

function actionOf({ action, definition }: BulkForm, definitions: WorkflowDefinitions): BulkAction {
  if (action === 'retry' || action === 'delete') return action;
  if (action !== 'start') return { definition: action };
  if (definition !== undefined && definitions.knows(definition)) return { definition };
  throw badRequest(
    `The form parameter 'definition' is ${quoted(definition)}; it must be the identifier of a workflow.`,
  );
}

function confirmationPage(c: Context, selected: readonly SelectedRecording[], { list }: BulkForm) {
  const root = rootFrom(c);
  const title = `Delete ${recordingsText(selected.length)}?`;
  const content = html`<p>Their files and publications are deleted with them. This cannot be undone.</p>
<form method="post" action="recordings">
<input type="hidden" name="action" value="delete"><input type="hidden" name="confirmed" value="true"><input type="hidden" name="list" value="${list}">
<ol class="named">${selected.map(
    (
      recording,
    ) => html`<li><input type="hidden" name="event" value="${recording.eventId}">${nameOf(recording, root)}${recording.title === undefined ? html` <span class="alarm">does not exist</span>` : ''}</li>
`,
  )}</ol>
<div class="actions"><button class="danger">Delete ${recordingsText(selected.length)} permanently</button><a href="${listAddress(list)}">Cancel</a></div>
</form>`;
  return operatorPage(c, { title, content, style: LIST_STYLE, current: 'admin/recordings' });
}

const TITLES: Readonly<Record<BulkForm['action'], string>> = {
  retry: 'Retry',
  publish: 'Publish',
  retract: 'Retract',
  start: 'Start workflow',
  delete: 'Delete',
};

/** Words for what has been done when the page appears: workflows have only been started. */
const DONE: Readonly<Record<BulkForm['action'], string>> = {
  retry: 'Started again',
  publish: 'Workflow started',
  retract: 'Workflow started',
  start: 'Workflow started',
  delete: 'Deleted',
};

function resultPage(c: Context, outcomes: readonly Outcome[], { action, list }: BulkForm) {
  const root = rootFrom(c);
  const refused = outcomes.filter((outcome) => outcome.refused !== undefined);
  const done = outcomes.length - refused.length;
  const summary = `${DONE[action]}: ${recordingsText(done)}${refused.length === 0 ? '.' : `; ${refused.length} refused.`}`;
  // Those that need attention come first.
  const sorted = [...refused, ...outcomes.filter((outcome) => outcome.refused === undefined)];
  const content = html`<p role="status" class="${refused.length === 0 ? 'notice' : 'alarm'}">${summary}</p>
<ul class="named">${sorted.map(
    (
      outcome,
    ) => html`<li>${nameOf(outcome, root)} <span class="${outcome.refused === undefined ? 'faint' : 'alarm'}">${outcome.done ?? outcome.refused}</span></li>
`,
  )}</ul>
<p><a href="${listAddress(list)}">Back to the list</a></p>`;
  return operatorPage(c, {
    title: `${TITLES[action]}: ${recordingsText(outcomes.length)}`,
    content,
    style: LIST_STYLE,
    current: 'admin/recordings',
  });
}

function nameOf({ eventId, title }: SelectedRecording, root: string): Html {
  if (title === undefined) return html`<code>${eventId}</code>`;
  return html`${recordingLink({ eventId, title }, root)} <span class="faint"><code>${eventId}</code></span>`;
}

/** The list with the filters and the page from which the recordings were selected. */
function listAddress(list: string): string {
  const query = new URLSearchParams(list).toString();
  return query === '' ? 'recordings' : `recordings?${query}`;
}
