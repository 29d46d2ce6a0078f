import { html } from 'hono/html';
import type { AgentActivityList } from '#capture/reports/agent-activity.queries.ts';
import type { IncomingUpload } from '#ingest/incoming-uploads.ts';
import type { listWaitingUploads } from '#ingest/tus/tus-uploads.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { LANES, type Lane, type WorkQueue } from '#platform/queue/work-queue.ts';
import type { LaneSetting } from '#processing/lane-settings.ts';
import type { WorkerProcess } from '#processing/worker-processes.ts';
import type { RequestedState } from '#processing/workflow.schemas.ts';
import { sizeOf } from '../frame/format-units.ts';
import {
  type Answer,
  age,
  agentLink,
  cutLink,
  liveSection,
  moment,
  type PageSetting,
  recordingLink,
  titleOf,
  workflowButton,
} from '../frame/page-elements.ts';
import { MOST_COUNTED, type RunningOperation, type WaitingRecording, type WorkList } from './work.queries.ts';

/** Operations that workers run now. */
export function runningSection({ count, entries }: WorkList<RunningOperation>, setting: PageSetting): Html {
  const rows = html`<ul class="rows">${entries.map((operation) => runningRow(operation, setting))}</ul>`;
  return liveSection('running', `Running (${count})`, count === 0 ? html`<p>Nothing is running.</p>` : rows);
}

function runningRow(running: RunningOperation, { now, root }: PageSetting): Html {
  const { workflowId, operation, worker, since, attempt, state } = running;
  const facts = [state === 'PAUSED' ? 'pauses after this operation' : '', attempt > 1 ? `attempt ${attempt}` : ''];
  const button = (wanted: RequestedState, name: string, kind: 'quiet' | 'danger') =>
    workflowButton(running, { wanted, name, kind }, { root, back: 'now' });
  return html`<li id="run-${workflowId}"><div>${recordingLink(running, root)} <span class="faint">${facts.filter(Boolean).join(', ')}</span></div>
<div><span>${operation} <span class="faint">for ${age(since, now)}</span></span>${progressBar(running)}</div>
<div class="faint worker"><bdi>${worker}</bdi></div>
<div class="actions">${state === 'PAUSED' ? button('running', 'Resume', 'quiet') : button('paused', 'Pause', 'quiet')}${button('stopped', 'Stop', 'danger')}</div></li>
`;
}

/** The progress of an operation, which is updated while the page is open. */
export function progressBar({ workflowId, operation, progress }: RunningOperation): Html {
  return html`<progress data-workflow="${workflowId}" value="${progress}" max="1" aria-label="${operation}: ${Math.round(progress * 100)} percent"></progress>`;
}

/** Reasons why operations may not start. */
interface QueueObstacles {
  workers: readonly WorkerProcess[];
  lanes: readonly LaneSetting[];
  /** Lanes whose queue is paused. */
  pausedQueues: Answer<readonly Lane[]>;
}

/** Recordings that wait, and the reasons why they may not start. */
export function queuedSection(
  queued: WorkList<WaitingRecording>,
  paused: WorkList<WaitingRecording>,
  { workers, lanes, pausedQueues }: QueueObstacles,
  setting: PageSetting,
): Html {
  const { root } = setting;
  const system = html`<a href="${root}admin/parts">System</a>`;
  const isServed = workers.some(({ gone, draining }) => !gone && !draining);
  return liveSection(
    'waiting',
    `Queued (${countOf(queued.count)})`,
    html`${isServed ? '' : html`<p class="alarm">No worker accepts work: none is alive, or all are drained. See ${system}.</p>`}
${lanes.filter(({ paused }) => paused).map(({ lane, changedBy }) => html`<p class="alarm">The lane ${lane} is paused by <bdi>${changedBy}</bdi>; its operations wait. See ${system}.</p>`)}
${'value' in pausedQueues ? pausedQueuesAlarm(pausedQueues.value, root) : html`<p class="alarm">${pausedQueues.fault} New operations wait until it does.</p>`}
${queued.count === 0 ? html`<p>Nothing is queued.</p>` : waitingRows(queued, false, setting)}
${
  paused.count === 0
    ? ''
    : html`<h3 id="paused">Needs attention (${countOf(paused.count)})</h3>
${waitingRows(paused, true, setting)}`
}`,
  );
}

function waitingRows(
  { count, entries }: WorkList<WaitingRecording>,
  isPaused: boolean,
  { now, root }: PageSetting,
): Html {
  return html`<ul class="rows">
${entries.map(
  (each) => html`<li><div>${recordingLink(each, root)}</div>
<div>${each.operation} <span class="faint">for ${age(each.since, now)}</span></div>
<div class="faint">${each.notBefore === null ? '' : html`next attempt at ${moment(each.notBefore)} UTC: `}${each.reason ?? ''}</div>
<div class="actions">${isPaused ? html`${cutLink(each, root)}${workflowButton(each, { wanted: 'running', name: 'Resume', kind: 'quiet' }, { root, back: 'now' })}` : ''}</div></li>
`,
)}
</ul>
${count > entries.length ? html`<p class="faint">The ${entries.length} that have waited longest are shown.</p>` : ''}`;
}

/** Formats a number that may exceed `MOST_COUNTED`. */
export function countOf(count: number): string {
  return count > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(count);
}

/** Uploads in progress, and resumable uploads that are not finished. */
export function uploadsSection(
  incoming: { count: number; bytes: number; latest: IncomingUpload[] },
  resumable: Awaited<ReturnType<typeof listWaitingUploads>>,
  { now, root }: PageSetting,
): Html {
  const count = incoming.count + resumable.count;
  const rows = html`<ul class="rows">
${incoming.latest.map((upload) => uploadRow(upload, html`started ${age(upload.createdAt, now)} ago`, 'at most '))}
${resumable.latest.map((upload) => uploadRow({ ...upload, received: upload.offset }, html`resumable, last data ${age(upload.changedAt, now)} ago`))}
</ul>
<p class="faint">${sizeOf(incoming.bytes + resumable.bytes)} received. <a href="${root}admin/uploads">All uploads</a></p>`;
  return liveSection('uploads', `Uploads (${count})`, count === 0 ? html`<p>No uploads in progress.</p>` : rows);
}

function uploadRow(
  { filename, owner, received, length }: Pick<IncomingUpload, 'filename' | 'owner' | 'received' | 'length'>,
  since: Html,
  most = '',
): Html {
  const progress = received / Math.max(length ?? 1, 1);
  return html`<li><div><bdi>${filename}</bdi></div><div>${sizeOf(received)}${length === undefined ? '' : html` of ${most}${sizeOf(length)}<progress value="${progress}" max="1" aria-label="${Math.floor(progress * 100)} percent"></progress>`}</div><div class="faint"><bdi>${owner}</bdi></div><div class="faint">${since}</div></li>
`;
}

/** The capture agents, those that need attention first. */
export function agentsSection({ count, inTrouble, agents }: AgentActivityList, { now, root }: PageSetting): Html | '' {
  if (count === 0) return '';
  const attention = html`, <span class="alarm">${inTrouble === 1 ? '1 needs' : `${inTrouble} need`} attention</span>`;
  return liveSection(
    'agents',
    html`Agents (${count}${inTrouble > 0 ? attention : ''})`,
    html`<ul class="rows agents">
${agents.map(
  ({ id, state, since, current, next, isInTrouble }) => html`<li><div>${agentLink(id, root)}</div>
<div class="${isInTrouble ? 'alarm' : ''}">${state.replaceAll('_', ' ')} <span class="faint">for ${age(since, now)}</span></div>
<div>${current ? html`${titleOf(current)}${current.trouble === null ? '' : html` <span class="alarm">${current.trouble === 'lost' ? 'went silent' : 'has not started'}</span>`}` : html`<span class="faint">free</span>`}</div>
<div class="faint">${next ? html`next: ${moment(next.start)} UTC ${titleOf(next)}` : ''}</div></li>
`,
)}
</ul>
${count > agents.length ? html`<p class="faint"><a href="${root}admin/agents">All ${count} agents</a></p>` : ''}`,
  );
}

/** Finds lanes whose queue is paused. That happens in the dashboard of queues and is not a setting of the lane. */
export async function findPausedQueues(queue: WorkQueue): Promise<Lane[]> {
  await queue.check();
  const paused = await Promise.all(queue.queues().map((each) => each.isPaused()));
  return LANES.filter((_, i) => paused[i]);
}

/** A warning for each queue that is paused. */
export function pausedQueuesAlarm(lanes: readonly Lane[], root: string): Html {
  return html`${lanes.map((lane) => html`<p class="alarm">The queue of the lane ${lane} is paused; its operations wait. Resume it under <a href="${root}admin/queues/">Queues</a>.</p>`)}`;
}
