import { html } from 'hono/html';
import { z } from 'zod';
import type { Html } from '#platform/http/answer/html-page.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { utcInstant } from '#platform/http/list/index.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { MAX_SEARCH, searchText } from '../frame/search-text.ts';

/** The states of recordings as pages name them, with the stored status. */
export const RECORDING_STATES = {
  failed: 'PROCESSING_FAILURE',
  recording_failure: 'RECORDING_FAILURE',
  paused: 'PAUSED',
  running: 'PROCESSING',
  queued: 'PENDING',
  ingesting: 'INGESTING',
  recording: 'RECORDING',
  scheduled: 'SCHEDULED',
  stopped: 'PROCESSING_CANCELLED',
  processed: 'PROCESSED',
} as const;

/** The columns by which the list is sorted, with the direction that a first click selects. */
export const SORT_COLUMNS = { title: 'asc', series: 'asc', start: 'desc', state: 'desc' } as const;
export type SortColumn = keyof typeof SORT_COLUMNS;

const STATES = Object.keys(RECORDING_STATES) as (keyof typeof RECORDING_STATES)[];
const SORTS = Object.keys(SORT_COLUMNS).flatMap((name) => [`${name}:asc`, `${name}:desc`]);

/** Fields that a form leaves empty are not given. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

const oneOf = <const Names extends readonly string[]>(parameter: string, names: Names) =>
  z.enum(names, {
    error: ({ input }) => `The parameter '${parameter}' is ${quoted(input)}; allowed are ${names.join(', ')}.`,
  });

const day = (parameter: string) =>
  z.string().refine((text) => startOfDay(text) !== undefined, {
    error: ({ input }) => `The parameter '${parameter}' is ${quoted(input)}; it must be a date such as 2026-11-25.`,
  });

/** Parameters of the list of recordings. */
export const RecordingsQuery = z.object({
  /** Words in the metadata, or the identifier of a recording or of a request that started a workflow. */
  q: searchText('q'),
  state: optional(oneOf('state', STATES)),
  /** The identifier or the title. */
  series: searchText('series'),
  agent: searchText('agent'),
  /** The first and the last day of starts in UTC. */
  from: optional(day('from')),
  to: optional(day('to')),
  sort: optional(oneOf('sort', SORTS)),
  cursor: z.string().optional(),
});
export type RecordingsQuery = z.infer<typeof RecordingsQuery>;

/** The period of starts that is asked for: from an instant on, and before another one. @throws {HttpError} 400 */
export function periodOf({ from, to }: RecordingsQuery): { from: Date | undefined; before: Date | undefined } {
  const last = startOfDay(to ?? '');
  const period = { from: startOfDay(from ?? ''), before: last && new Date(last.getTime() + 86_400_000) };
  if (period.from && last && period.from > last) {
    throw badRequest(`The parameter 'from' is "${from}"; it must not be after 'to', which is "${to}".`);
  }
  return period;
}

function startOfDay(text: string): Date | undefined {
  return utcInstant(`${text}T00:00:00Z`);
}

/** The column and the direction of the list. */
export function sortOf({ sort = 'start:desc' }: RecordingsQuery): { column: SortColumn; descending: boolean } {
  const [column, direction] = sort.split(':');
  return { column: column as SortColumn, descending: direction === 'desc' };
}

/** Returns the query of the list with other parameters, without empty ones; with a leading `?`, or empty. */
export function listQuery(query: RecordingsQuery, changes: Partial<RecordingsQuery> = {}): string {
  const given = Object.entries({ ...query, ...changes }).filter((each): each is [string, string] => Boolean(each[1]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** Reports whether the query excludes recordings. */
export function isFiltered({ q, state, series, agent, from, to }: RecordingsQuery): boolean {
  return [q, state, series, agent, from, to].some(Boolean);
}

/** The form of the dashboard that searches for recordings. */
export function searchForm(root: string): Html {
  return html`<form class="tools" role="search" action="${root}admin/recordings">${searchField()}<button>Search recordings</button></form>`;
}

/** The form that filters the list. @param agents names to choose from */
export function filterForm(query: RecordingsQuery, agents: readonly string[]): Html {
  const { q, state, series = '', agent = '', from = '', to = '', sort } = query;
  return html`<form class="filters" role="search" action="recordings">
<div class="wide">${searchField(q)}</div>
<label>State <select name="state"><option value="">All</option>${STATES.map((name) => html`<option value="${name}"${name === state ? ' selected' : ''}>${name.replaceAll('_', ' ')}</option>`)}</select></label>
<label>Series <input name="series" value="${series}" maxlength="${MAX_SEARCH}" placeholder="Title or identifier"></label>
<label>Agent <input name="agent" value="${agent}" maxlength="${MAX_SEARCH}" list="agents" placeholder="Name"></label>
<datalist id="agents">${agents.map((name) => html`<option value="${name}"></option>`)}</datalist>
<label>Starts from <input type="date" name="from" value="${from}"></label>
<label>Starts until <input type="date" name="to" value="${to}"></label>
${sort === undefined ? '' : html`<input type="hidden" name="sort" value="${sort}">`}
<div class="actions"><button>Search recordings</button>${isFiltered(query) ? html`<a href="recordings${listQuery({}, { sort })}">Clear filters</a>` : ''}</div>
</form>`;
}

function searchField(search = ''): Html {
  return html`<input type="search" name="q" value="${search}" maxlength="${MAX_SEARCH}" size="40" aria-label="Words, identifier or request id" placeholder="Words, identifier or request id">`;
}
