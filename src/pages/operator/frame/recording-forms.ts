import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import type { WantedState } from '#processing/workflow.schemas.ts';
import { recordingAddress } from './parts.ts';

/** The recording that a button is about. */
interface About {
  eventId: string;
  title: string;
}

/** Where a button stands. */
interface Place {
  /** Where the server's paths begin. */
  root: string;
  /** The page that shows what came of it. */
  back: 'now' | 'recording';
}

/** What a button does to a workflow, how it is called, and how it looks unless it is what matters most. */
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

/** Asks once more before anything is deleted, without a script. */
export function deleteForm({ eventId, title }: About, root: string): Html {
  return html`<details class="confirm" id="delete-${eventId}"><summary aria-label="Delete ${spoken(title)} …">Delete …</summary><form method="post" action="${recordingAddress(eventId, root)}/delete"><input type="hidden" name="back" value="now"><button class="danger">Delete the recording for good</button></form></details>`;
}

function spoken(title: string): string {
  return title.trim() || 'Untitled';
}
