import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import { withTimeout } from '#platform/process/timeout.ts';
import type { WantedState } from '#processing/workflow.schemas.ts';
import { elementUrl, type PublicationElement, watchUrl } from '#publications/model.ts';
import type { PublicationAddresses } from '#publications/presentation.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { ageOf, minuteOf } from './words.ts';

/** The time since an instant; its tooltip shows the instant in UTC. */
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

/**
 * Returns functions for the addresses of publications: relative, so that they work under every name and path of a
 * proxy, and signed where Inlet signs.
 */
export function publicationLinks(c: Context, { publicUrl, signer }: PublicationAddresses) {
  const root = rootFrom(c);
  const validUntil = signer?.defaultEnd() ?? 0;
  const shown = (address: string) => {
    const signed = signer ? signer.sign(address, { validUntil }) : address;
    return root + signed.slice(publicUrl.length + 1);
  };
  return {
    element: (element: PublicationElement) => shown(elementUrl(publicUrl, element)),
    watch: (publicationId: string) => shown(watchUrl(publicUrl, publicationId)),
  };
}

/** The state of a workflow or an operation, in a colour of its own. */
export function stateOf(state: string): Html {
  const word = state.toLowerCase();
  return html`<span class="state ${word}">${word}</span>`;
}

/** The recording that a button is about. */
interface About {
  eventId: string;
  title: string;
}

/** The place of a button. */
interface Place {
  /** Where the server's paths begin. */
  root: string;
  /** The page that shows what came of it. */
  back: 'now' | 'recording';
}

/** The action of a button, its name, and its style unless it is the main one. */
interface Wish {
  wanted: WantedState;
  name: string;
  kind?: 'quiet' | 'danger' | undefined;
}

/** A button for the latest workflow of a recording. */
export function wishForm(
  { eventId, title, workflowId }: About & { workflowId: number },
  { wanted, name, kind }: Wish,
  { root, back }: Place,
): Html {
  return html`<form method="post" action="${recordingAddress(eventId, root)}/workflow"><input type="hidden" name="workflow" value="${workflowId}"><input type="hidden" name="state" value="${wanted}"><input type="hidden" name="back" value="${back}"><button class="${kind ?? ''}" id="${wanted}-${workflowId}" aria-label="${name} ${spoken(title)}">${name}</button></form>`;
}

/** A button that asks for confirmation before it deletes, without a script. */
export function deleteForm({ eventId, title }: About, root: string): Html {
  return html`<details class="confirm" id="delete-${eventId}"><summary aria-label="Delete ${spoken(title)} …">Delete …</summary><form method="post" action="${recordingAddress(eventId, root)}/delete"><input type="hidden" name="back" value="now"><button class="danger">Delete the recording for good</button></form></details>`;
}

function spoken(title: string): string {
  return title.trim() || 'Untitled';
}

/** The answer of a part of the service, or the reason why none came. */
export type Answer<T> = { value: T } | { fault: string };

const PATIENCE_MS = 3_000;

/** Limits the time for an answer, so that a part that hangs does not hang the page. @param part its name, at the beginning of a sentence */
export async function answerOf<T>(part: string, asked: Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await withTimeout(asked, PATIENCE_MS, '') };
  } catch {
    return { fault: `${part} does not answer.` };
  }
}
