import { html } from 'hono/html';
import { sql } from 'kysely';
import type { AgentActivityList } from '#capture/reports/agent-activity.queries.ts';
import type { IncomingUpload } from '#ingest/incoming-uploads.ts';
import type { listWaitingUploads } from '#ingest/tus/tus-uploads.ts';
import type { Queryable } from '#platform/database/kysely.ts';
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
  liveSection,
  moment,
  type PageSetting,
  recordingLink,
  titleOf,
  workflowButton,
} from '../frame/page-elements.ts';

/** An operation that a worker runs. */
export interface RunningOperation {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  /** From 0 to 1. */
  progress: number;
  worker: string;
  /** The start of the current attempt. */
  since: Date;
  attempt: number;
  /** The state of the workflow: while it is paused, a running operation still finishes. */
  state: string;
}

/** Running operations, the oldest first, and the number of all of them. */
export async function runningOperations(
  db: Queryable,
  limit: number,
): Promise<{ count: number; operations: RunningOperation[] }> {
  const { rows } = await sql<RunningOperation & { count: number }>`
    SELECT count(*) OVER () AS count, w.event_id AS "eventId", e.title, w.id AS "workflowId", o.operation, o.progress,
      coalesce(o.worker, '') AS worker, coalesce(o.claimed_at, o.heartbeat_at) AS since, o.attempts + 1 AS attempt, w.state
    FROM workflow_operations o JOIN workflows w ON w.id = o.workflow_id JOIN events e ON e.id = w.event_id
    WHERE o.state = 'running' ORDER BY since, o.id LIMIT ${limit}`.execute(db);
  return { count: rows[0]?.count ?? 0, operations: rows };
}

/** A recording that waits for a worker, for its next attempt, or for a person. */
interface WaitingRecording {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  since: Date;
  /** The time of the next attempt; null if it can start now. */
  notBefore: Date | null;
  /** The reason of the last failure. */
  reason: string | null;
}

/** Some of the recordings that wait, and the number of all of them. */
interface WaitingRecordings {
  count: number;
  recordings: WaitingRecording[];
}

/** Larger numbers are not counted. */
const MOST_COUNTED = 10_000;

/** Recordings that wait for a worker, in the order in which they can start. */
export async function queuedRecordings(db: Queryable, limit: number): Promise<WaitingRecordings> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH ready AS MATERIALIZED (
      SELECT o.id, o.workflow_id, o.operation, o.not_before, o.reason, o.position FROM workflow_operations o
      WHERE o.state = 'ready' LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM ready) AS count FROM ready
      ORDER BY greatest(not_before, '-infinity'), id LIMIT ${limit}
    )
    SELECT first.count, w.event_id AS "eventId", e.title, w.id AS "workflowId", first.operation, first.reason,
      CASE WHEN first.not_before > now() THEN first.not_before END AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before
        WHERE before.workflow_id = w.id AND before.position < first.position), w.created_at) AS since
    FROM first JOIN workflows w ON w.id = first.workflow_id JOIN events e ON e.id = w.event_id
    ORDER BY since, first.id`.execute(db);
  return { count: rows[0]?.count ?? 0, recordings: rows };
}

/** Recordings whose workflow is paused, the longest first. */
export async function pausedRecordings(db: Queryable, limit: number): Promise<WaitingRecordings> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH paused AS MATERIALIZED (
      SELECT id, event_id, created_at FROM workflows WHERE state = 'PAUSED'
      ORDER BY state, created_at, id LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM paused) AS count FROM paused ORDER BY created_at, id LIMIT ${limit}
    )
    SELECT first.count, first.event_id AS "eventId", e.title, first.id AS "workflowId",
      coalesce(o.description, o.operation, '') AS operation, NULL AS reason, NULL AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before WHERE before.workflow_id = first.id
        AND before.state = 'succeeded'), first.created_at) AS since
    FROM first JOIN events e ON e.id = first.event_id
    LEFT JOIN workflow_operations o ON o.workflow_id = first.id AND o.state = 'paused'
    ORDER BY since, first.id`.execute(db);
  return { count: rows[0]?.count ?? 0, recordings: rows };
}

/** Operations that workers run now. */
export function runningSection(
  { count, operations }: { count: number; operations: RunningOperation[] },
  setting: PageSetting,
): Html {
  const rows = html`<ul class="rows">${operations.map((operation) => runningRow(operation, setting))}</ul>`;
  return liveSection('running', `Running (${count})`, count === 0 ? html`<p>Nothing is running.</p>` : rows);
}

function runningRow(running: RunningOperation, { now, root }: PageSetting): Html {
  const { workflowId, operation, progress, worker, since, attempt, state } = running;
  const percent = Math.round(progress * 100);
  const facts = [state === 'PAUSED' ? 'pauses after this operation' : '', attempt > 1 ? `attempt ${attempt}` : ''];
  const button = (wanted: RequestedState, name: string, kind: 'quiet' | 'danger') =>
    workflowButton(running, { wanted, name, kind }, { root, back: 'now' });
  return html`<li id="run-${workflowId}"><div>${recordingLink(running, root)} <span class="faint">${facts.filter(Boolean).join(', ')}</span></div>
<div><span>${operation} <span class="faint">for ${age(since, now)}</span></span><progress data-workflow="${workflowId}" value="${progress}" max="1" aria-label="${operation}: ${percent} percent"></progress></div>
<div class="faint worker"><bdi>${worker}</bdi></div>
<div class="actions">${state === 'PAUSED' ? button('running', 'Resume', 'quiet') : button('paused', 'Pause', 'quiet')}${button('stopped', 'Stop', 'danger')}</div></li>
`;
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
  queued: WaitingRecordings,
  paused: WaitingRecordings,
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

function waitingRows({ count, recordings }: WaitingRecordings, isPaused: boolean, { now, root }: PageSetting): Html {
  return html`<ul class="rows">
${recordings.map(
  (each) => html`<li><div>${recordingLink(each, root)}</div>
<div>${each.operation} <span class="faint">for ${age(each.since, now)}</span></div>
<div class="faint">${each.notBefore === null ? '' : html`next attempt at ${moment(each.notBefore)} UTC: `}${each.reason ?? ''}</div>
<div class="actions">${isPaused ? workflowButton(each, { wanted: 'running', name: 'Resume', kind: 'quiet' }, { root, back: 'now' }) : ''}</div></li>
`,
)}
</ul>
${count > recordings.length ? html`<p class="faint">The ${recordings.length} that have waited longest are shown.</p>` : ''}`;
}

function countOf(count: number): string {
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
