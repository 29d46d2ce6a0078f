import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import { stateOf } from '../frame/parts.ts';
import { minuteOf, spanOf } from '../frame/words.ts';
import type { Attempt, OperationStory, WorkflowStory } from './story.queries.ts';

const WIDTH = 1000;
const HEIGHT = 14;
/** So that the shortest attempt is seen. */
const LEAST = 4;

/** The operations of a workflow, each attempt as a bar on the time that the workflow took. */
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
<div>${stateOf(operation.state)}${attempts.length > 0 ? html` <span class="faint">${spanOf(spent)}${attempts.length > 1 ? `, ${count(attempts)} attempts` : ''}</span>` : ''}</div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${attempts.map(words).join('; ') || 'not begun'}"><rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="3"/>${attempts.map((attempt) => bar(attempt, x))}</svg>
${reason === null ? '' : html`<p class="${operation.state === 'failed' ? 'alarm' : 'faint'}">${reason}</p>`}
${ended(operation.id, attempts)}
${log ? html`<details id="log-${operation.id}"><summary>What the tool said last</summary><pre tabindex="0">${log}</pre></details>` : ''}</li>
`;
}

function bar(attempt: Attempt, x: (at: Date) => number): Html {
  const [from, to] = [x(attempt.start), x(attempt.end)];
  const width = Math.max(to - from, LEAST);
  return html`<rect class="${attempt.outcome.replaceAll(' ', '-')}" x="${Math.min(from, WIDTH - width).toFixed(1)}" width="${width.toFixed(1)}" height="${HEIGHT}" rx="3"><title>${words(attempt)}</title></rect>`;
}

/** The attempts that did not succeed, in words. */
function ended(id: number, attempts: readonly Attempt[]): Html | '' {
  const failed = attempts.filter(({ outcome }) => outcome !== 'succeeded' && outcome !== 'running');
  if (failed.length === 0) return '';
  return html`<details id="attempts-${id}"><summary>${count(failed) === 1 ? '1 attempt' : `${count(failed)} attempts`} without success</summary><ul class="attempts">${failed.map((attempt) => html`<li>${words(attempt)}</li>`)}</ul></details>`;
}

function count(attempts: readonly Attempt[]): number {
  return attempts.reduce((sum, { times }) => sum + times, 0);
}

function words({ outcome, times, worker, reason, start, end }: Attempt): string {
  const often = times > 1 ? ` ${times} times` : '';
  const where = worker ? ` on ${worker}` : '';
  return `${minuteOf(start)} UTC, ${spanOf(end.getTime() - start.getTime())}: ${outcome}${often}${where}${reason ? ` (${reason})` : ''}`;
}
