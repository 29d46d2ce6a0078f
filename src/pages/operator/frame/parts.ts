import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import { ageOf, minuteOf } from './words.ts';

/** How long something lasts already; the point in time itself, in UTC, is there for whoever points at it. */
export function age(since: Date, now: Date): Html {
  return html`<time datetime="${since.toISOString()}" title="since ${minuteOf(since)} UTC">${ageOf(since, now)}</time>`;
}

/** A point in time, in UTC. */
export function moment(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${minuteOf(at)}</time>`;
}

/** The same to the second. */
export function exactMoment(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${at.toISOString().slice(0, 19).replace('T', ' ')}</time>`;
}

/** The title of a recording, which may be empty. */
export function titleOf({ title }: { title: string }): Html {
  return title.trim() === '' ? html`<span>Untitled</span>` : html`<bdi>${title}</bdi>`;
}

/** The page of a recording, below which its forms are sent. @param root where the server's paths begin */
export function recordingAddress(eventId: string, root: string): string {
  return `${root}admin/recordings/${encodeURIComponent(eventId)}`;
}

/** Leads to all that is known of a recording. @param root where the server's paths begin */
export function recordingLink({ eventId, title }: { eventId: string; title: string }, root: string): Html {
  return html`<a class="recording" href="${recordingAddress(eventId, root)}">${titleOf({ title })}</a>`;
}

/** The state of a workflow or an operation, in a colour of its own. */
export function stateOf(state: string): Html {
  const word = state.toLowerCase();
  return html`<span class="state ${word}">${word}</span>`;
}
