import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import { LANES, type Lane, type WorkQueue } from '#platform/queue/port.ts';

/** Lanes whose queue was paused itself, past the settings of lanes: whoever has the dashboard can. */
export async function heldQueues(queue: WorkQueue): Promise<Lane[]> {
  await queue.check();
  const paused = await Promise.all(queue.queues().map((each) => each.isPaused()));
  return LANES.filter((_, i) => paused[i]);
}

/** Says that somebody has paused queues themselves. @param root where the server's paths begin */
export function heldQueuesAlarm(lanes: readonly Lane[], root: string): Html {
  return html`${lanes.map((lane) => html`<p class="alarm">The queue of the lane ${lane} itself is paused: what belongs to it waits. It can be resumed among the <a href="${root}admin/queues/">queues</a>.</p>`)}`;
}
