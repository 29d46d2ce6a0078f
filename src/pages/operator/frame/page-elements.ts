import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import type { RequestedState } from '#processing/workflow.schemas.ts';
import { ageOf, minuteOf } from './format-units.ts';

/** The time and the address from which a page is drawn. */
export interface PageSetting {
  now: Date;
  /** The relative URL of the server's root. */
  root: string;
}

/** A section that is updated while the page is open. */
export function liveSection(id: string, heading: Html | string, content: Html): Html {
  return html`<section id="${id}" data-live aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2>
${content}</section>
`;
}

/** A list of names and values. */
export function factList(facts: readonly (readonly [string, Html | string])[]): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The time since an instant; its tooltip shows the instant in UTC. */
export function age(since: Date, now: Date): Html {
  return html`<time datetime="${since.toISOString()}" title="since ${minuteOf(since)} UTC">${ageOf(since, now)}</time>`;
}

/** An instant in UTC, to the minute. */
export function moment(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${minuteOf(at)}</time>`;
}

/** The title of a recording, which may be empty. */
export function titleOf({ title }: { title: string }): Html {
  return title.trim() === '' ? html`<span>Untitled</span>` : html`<bdi>${title}</bdi>`;
}

/** The URL of the page of a recording. Its forms are sent to paths below it. */
export function recordingAddress(eventId: string, root: string): string {
  return `${root}admin/recordings/${encodeURIComponent(eventId)}`;
}

/** Links to the page of a recording. */
export function recordingLink({ eventId, title }: { eventId: string; title: string }, root: string): Html {
  return html`<a class="recording" href="${recordingAddress(eventId, root)}">${titleOf({ title })}</a>`;
}

/** Links to the page of a capture agent. */
export function agentLink(id: string, root: string): Html {
  return html`<a href="${root}admin/agents?agent=${encodeURIComponent(id)}"><bdi>${id}</bdi></a>`;
}

/** The state of a workflow or an operation, with its colour. */
export function stateOf(state: string): Html {
  const word = state.toLowerCase();
  return html`<span class="state ${word}">${word.replaceAll('_', ' ')}</span>`;
}

/** A button that controls the latest workflow of a recording. `back` names the page that shows the result. */
export function workflowButton(
  { eventId, title, workflowId }: { eventId: string; title: string; workflowId: number },
  { wanted, name, kind = '' }: { wanted: RequestedState; name: string; kind?: 'quiet' | 'danger' | '' },
  { root, back }: { root: string; back: 'now' | 'recording' },
): Html {
  return html`<form method="post" action="${recordingAddress(eventId, root)}/workflow"><input type="hidden" name="workflow" value="${workflowId}"><input type="hidden" name="state" value="${wanted}"><input type="hidden" name="back" value="${back}"><button class="${kind}" id="${wanted}-${workflowId}" aria-label="${name} ${title.trim() || 'Untitled'}">${name}</button></form>`;
}

/** Links to the editor of a recording. */
export function cutLink({ eventId, title }: { eventId: string; title: string }, root: string): Html {
  const address = `${root}editor-ui/index.html?id=${encodeURIComponent(eventId)}`;
  return html`<a class="button quiet" href="${address}" aria-label="Cut ${title.trim() || 'Untitled'}">Cut</a>`;
}

/** A button that asks for confirmation before it deletes a recording. It works without scripts. */
export function deleteForm({ eventId, title }: { eventId: string; title: string }, root: string): Html {
  return html`<details class="confirm" id="delete-${eventId}"><summary aria-label="Delete ${title.trim() || 'Untitled'} …">Delete …</summary><form method="post" action="${recordingAddress(eventId, root)}/delete"><button class="danger">Delete permanently</button></form></details>`;
}

/** The answer of a service, or the reason why none came. */
export type Answer<T> = { value: T } | { fault: string };

const TIMEOUT_MS = 3_000;

/** Limits the time for an answer, so that a service that hangs does not block the page. */
export async function answerOf<T>(service: string, answer: Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await withTimeout(answer, TIMEOUT_MS, '') };
  } catch {
    return { fault: `${service} does not answer.` };
  }
}
