import { html } from 'hono/html';
import type { Change } from '#changes/change.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { minuteOf, sizeOf, spanOf } from '../frame/format-units.ts';
import { stateOf } from '../frame/page-elements.ts';
import type { Attempt, OperationStory, RecordingStory, WorkflowStory } from './recording-story.queries.ts';

/** An entry in the history of a recording. */
interface Entry {
  at: Date;
  text: string;
  /** The account that caused it; empty for the service itself. */
  by: string;
  tone: 'plain' | 'good' | 'alarm';
}

const RECORDING: Readonly<Record<string, string>> = {
  '': 'The recording is expected again',
  capturing: 'The capture agent is recording',
  capture_finished: 'The capture agent has recorded',
  uploading: 'The capture agent is uploading',
  upload_finished: 'The recording is uploaded',
};

/** The history of a recording, the oldest entry first. */
export function historyOf(story: RecordingStory): Html {
  const entries = [...expiredEntries(story), ...story.changes.flatMap(entriesOf)];
  return html`<ol class="story">${entries.sort((a, b) => a.at.getTime() - b.at.getTime()).map(entryRow)}</ol>`;
}

function entryRow({ at, text, by, tone }: Entry): Html {
  return html`<li class="${tone}"><time datetime="${at.toISOString()}">${at.toISOString().slice(0, 19).replace('T', ' ')}</time> <span>${text}${by === '' ? '' : html` <span class="faint">by <bdi>${by}</bdi></span>`}</span></li>
`;
}

/** Returns entries that the log of changes no longer holds: the creation, the workflows and the publications. */
function expiredEntries({ event, workflows, publications, changes }: RecordingStory): Entry[] {
  const isLogged = (kind: Change['kind'], [name, value]: readonly [string, unknown]) =>
    changes.some((change) => change.kind === kind && change.data[name] === value);
  const isCreationMissing = event && !changes.some(({ kind }) => kind === 'event.created');
  const runs = workflows
    .filter(({ id }) => !isLogged('workflow.state', ['workflow', id]))
    .flatMap(({ title, creator, start, end, state, reason }) => {
      const started = entry(start, `Workflow “${title}” started`, creator);
      const result = `Workflow ${state.toLowerCase()}${reason ? `: ${reason}` : ''}`;
      return end ? [started, entry(end, result, '', state === 'FAILED' ? 'alarm' : 'plain')] : [started];
    });
  const shown = publications
    .filter(({ id }) => !isLogged('publication.published', ['publication', id]))
    .map(({ channel, published_at }) => entry(published_at, `Published on ${channel}`, '', 'good'));
  return [...(isCreationMissing ? [entry(event.inserted_at, 'Created', event.creator)] : []), ...runs, ...shown];
}

function entry(at: Date, text: string, by: string, tone: Entry['tone'] = 'plain'): Entry {
  return { at, text, by, tone };
}

/** Omits operations and their progress, which the bars of the workflow show. */
function entriesOf({ kind, at, actor, data }: Change): Entry[] {
  const add = (text: string, tone?: Entry['tone']) => [entry(at, text, actor, tone)];
  switch (kind) {
    case 'event.created':
      return add(`Created${uploadOf(data)}`);
    case 'event.changed':
      return add(`Changed: ${listOf(data.parts)}${uploadOf(data)}`);
    case 'event.scheduled':
      return add(`Scheduled on ${data.agent} from ${timeOf(data.start)} to ${timeOf(data.end)} UTC`);
    case 'event.recording': {
      const state = String(data.recording);
      if (data.missed) return add('The recording was never uploaded', 'alarm');
      const text = RECORDING[state] ?? `The capture agent reports: ${state.replaceAll('_', ' ')}`;
      return add(text, state.endsWith('_error') ? 'alarm' : 'plain');
    }
    case 'event.deleted':
      return add('Deleted', 'alarm');
    case 'workflow.state':
      return add(...workflowEntry(data));
    case 'workflow.deleted':
      return add(`Workflow ${data.workflow} deleted`);
    case 'publication.published':
      return add(`${publishedAs(data)} on ${data.channel}`, 'good');
    case 'publication.retracted':
      return add(`Retracted from ${data.channel}`);
    default:
      return [];
  }
}

/** Returns the verb for a publication, which may gain renditions and previews later. */
function publishedAs({ partial, completed }: Change['data']): string {
  if (partial) return 'Published early';
  return completed ? 'All renditions published' : 'Published';
}

const WORKFLOW: Readonly<Record<string, [verb: string, tone?: Entry['tone']]>> = {
  SUCCEEDED: ['succeeded', 'good'],
  FAILING: ['is failing', 'alarm'],
  FAILED: ['failed', 'alarm'],
  RUNNING: ['is running'],
};

function workflowEntry({ workflow, definition, state, reason }: Change['data']): [text: string, tone?: Entry['tone']] {
  if (state === 'INSTANTIATED') return [`Workflow ${workflow} “${definition}” started`];
  const [verb, tone] = WORKFLOW[String(state)] ?? [String(state).toLowerCase()];
  return [`Workflow ${workflow} ${verb}${tone === 'alarm' && typeof reason === 'string' ? `: ${reason}` : ''}`, tone];
}

function uploadOf({ tracks, bytes }: Change['data']): string {
  if (typeof tracks !== 'number') return '';
  return `, with ${tracks === 1 ? '1 track' : `${tracks} tracks`} of ${sizeOf(Number(bytes ?? 0))}`;
}

function listOf(parts: unknown): string {
  return Array.isArray(parts) ? parts.join(', ') : '';
}

function timeOf(text: unknown): string {
  return typeof text === 'string' ? minuteOf(new Date(text)) : '';
}

const WIDTH = 1000;
const HEIGHT = 14;
/** The width of the shortest attempt. */
const LEAST = 4;

/** The operations of a workflow, with each attempt as a bar on the time axis of the workflow. */
export function barsOf(workflow: WorkflowStory): Html {
  const attempts = workflow.operations.flatMap((operation) => operation.attempts);
  const start = Math.min(workflow.start.getTime(), ...attempts.map((attempt) => attempt.start.getTime()));
  const end = Math.max(start + 1, ...attempts.map((attempt) => attempt.end.getTime()));
  const x = (at: Date) => ((at.getTime() - start) / (end - start)) * WIDTH;
  return html`<ol class="bars">
${workflow.operations.map((operation) => row(operation, x))}
</ol>`;
}

function row(operation: OperationStory, x: (at: Date) => number): Html {
  const { description, attempts, reason, log, onFailure } = operation;
  const spent = attempts.reduce((sum, { start, end }) => sum + end.getTime() - start.getTime(), 0);
  return html`<li><div class="name"><strong>${operation.operation}</strong>${onFailure ? html` <span class="faint">on failure</span>` : ''} <span class="faint">${description}</span></div>
<div>${stateOf(operation.state)}${attempts.length > 0 ? html` <span class="faint">${spanOf(spent)}${attempts.length > 1 ? `, ${count(attempts)} attempts` : ''}</span>` : ''}${operation.pieces ? html` <span class="faint">${piecesText(operation.pieces)}</span>` : ''}</div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${attempts.map(words).join('; ') || 'not started'}"><rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="3"/>${attempts.map((attempt) => bar(attempt, x))}</svg>
${reason === null ? '' : html`<p class="${operation.state === 'failed' ? 'alarm' : 'faint'}">${reason}</p>`}
${failedAttempts(operation.id, attempts)}
${log ? html`<details id="log-${operation.id}"><summary>Last output of the tool</summary><pre tabindex="0">${log}</pre></details>` : ''}</li>
`;
}

function piecesText({ total, done, workers }: NonNullable<OperationStory['pieces']>): string {
  return `${done} of ${total} pieces done${workers.length > 0 ? `, on ${workers.join(', ')}` : ''}`;
}

function bar(attempt: Attempt, x: (at: Date) => number): Html {
  const [from, to] = [x(attempt.start), x(attempt.end)];
  const width = Math.max(to - from, LEAST);
  return html`<rect class="${attempt.outcome.replaceAll(' ', '-')}" x="${Math.min(from, WIDTH - width).toFixed(1)}" width="${width.toFixed(1)}" height="${HEIGHT}" rx="3"><title>${words(attempt)}</title></rect>`;
}

/** Lists the attempts that did not succeed. */
function failedAttempts(id: number, attempts: readonly Attempt[]): Html | '' {
  const failed = attempts.filter(({ outcome }) => outcome !== 'succeeded' && outcome !== 'running');
  if (failed.length === 0) return '';
  return html`<details id="attempts-${id}"><summary>${count(failed) === 1 ? '1 failed attempt' : `${count(failed)} failed attempts`}</summary><ul class="attempts">${failed.map((attempt) => html`<li>${words(attempt)}</li>`)}</ul></details>`;
}

function count(attempts: readonly Attempt[]): number {
  return attempts.reduce((sum, { times }) => sum + times, 0);
}

function words({ outcome, times, worker, reason, start, end }: Attempt): string {
  const often = times > 1 ? ` ${times} times` : '';
  const where = worker ? ` on ${worker}` : '';
  return `${minuteOf(start)} UTC, ${spanOf(end.getTime() - start.getTime())}: ${outcome}${often}${where}${reason ? ` (${reason})` : ''}`;
}
