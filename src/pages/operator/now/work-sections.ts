import { html } from 'hono/html';
import { sql } from 'kysely';
import type { AgentsAtWork } from '#capture/reports/at-work.queries.ts';
import type { IncomingUpload } from '#ingest/incoming.queries.ts';
import type { waitingUploads } from '#ingest/tus/uploads.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { LANES, type Lane, type WorkQueue } from '#platform/queue/port.ts';
import type { LaneSetting } from '#processing/lane-settings.ts';
import type { WorkerProcess } from '#processing/worker-processes.ts';
import type { WantedState } from '#processing/workflow.schemas.ts';
import { type Answer, age, moment, recordingLink, titleOf, wishForm } from '../frame/page-elements.ts';
import { sizeOf } from '../frame/words.ts';

/** An operation that a worker is at. */
export interface RunningOperation {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  /** From 0 to 1. */
  progress: number;
  worker: string;
  /** Of the present attempt. */
  since: Date;
  attempt: number;
  /** The state of the workflow: one that is paused still ends what is under way. */
  state: string;
}

/** Operations under way, the longest first. @param most how many to tell of one by one */
export async function runningOperations(
  db: Queryable,
  most: number,
): Promise<{ count: number; operations: RunningOperation[] }> {
  const { rows } = await sql<RunningOperation & { count: number }>`
    SELECT count(*) OVER () AS count, w.event_id AS "eventId", e.title, w.id AS "workflowId", o.operation, o.progress,
      coalesce(o.worker, '') AS worker, coalesce(o.claimed_at, o.heartbeat_at) AS since, o.attempts + 1 AS attempt, w.state
    FROM workflow_operations o JOIN workflows w ON w.id = o.workflow_id JOIN events e ON e.id = w.event_id
    WHERE o.state = 'running' ORDER BY since, o.id LIMIT ${most}`.execute(db);
  return { count: rows[0]?.count ?? 0, operations: rows.map(({ count, ...operation }) => operation) };
}

/** A recording that waits: for a worker, for its next attempt, or for somebody. */
interface WaitingRecording {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  since: Date;
  /** When it is tried again; null when it could begin. */
  notBefore: Date | null;
  /** Why it is tried again. */
  reason: string | null;
}

/** Counts go no further: who has more waiting knows enough. */
const MOST_COUNTED = 10_000;

/** What waits for a worker, what will be ready first, first. */
export async function waitingRecordings(
  db: Queryable,
  most: number,
): Promise<{ count: number; recordings: WaitingRecording[] }> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH ready AS MATERIALIZED (
      SELECT o.id, o.workflow_id, o.operation, o.not_before, o.reason, o.position FROM workflow_operations o
      WHERE o.state = 'ready' LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM ready) AS count FROM ready
      ORDER BY greatest(not_before, '-infinity'), id LIMIT ${most}
    )
    SELECT first.count, w.event_id AS "eventId", e.title, w.id AS "workflowId", first.operation, first.reason,
      CASE WHEN first.not_before > now() THEN first.not_before END AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before
        WHERE before.workflow_id = w.id AND before.position < first.position), w.created_at) AS since
    FROM first JOIN workflows w ON w.id = first.workflow_id JOIN events e ON e.id = w.event_id
    ORDER BY since, first.id`.execute(db);
  return { count: rows[0]?.count ?? 0, recordings: rows.map(({ count, ...recording }) => recording) };
}

/** What waits for somebody, the longest first. */
export async function pausedRecordings(
  db: Queryable,
  most: number,
): Promise<{ count: number; recordings: WaitingRecording[] }> {
  const { rows } = await sql<WaitingRecording & { count: number }>`
    WITH paused AS MATERIALIZED (
      SELECT id, event_id, created_at FROM workflows WHERE state = 'PAUSED'
      ORDER BY state, created_at, id LIMIT ${MOST_COUNTED + 1}
    ), first AS (
      SELECT *, (SELECT count(*) FROM paused) AS count FROM paused ORDER BY created_at, id LIMIT ${most}
    )
    SELECT first.count, first.event_id AS "eventId", e.title, first.id AS "workflowId",
      coalesce(o.description, o.operation, '') AS operation, NULL AS reason, NULL AS "notBefore",
      coalesce((SELECT max(before.finished_at) FROM workflow_operations before WHERE before.workflow_id = first.id
        AND before.state = 'succeeded'), first.created_at) AS since
    FROM first JOIN events e ON e.id = first.event_id
    LEFT JOIN workflow_operations o ON o.workflow_id = first.id AND o.state = 'paused'
    ORDER BY since, first.id`.execute(db);
  return { count: rows[0]?.count ?? 0, recordings: rows.map(({ count, ...recording }) => recording) };
}

interface Setting {
  now: Date;
  /** Where the server's paths begin. */
  root: string;
}

/** Operations that workers run now. */
export function runningSection(
  { count, operations }: { count: number; operations: RunningOperation[] },
  setting: Setting,
): Html {
  return html`<section id="running" data-live aria-labelledby="running-heading">
<h2 id="running-heading">Running (${count})</h2>
${
  count === 0
    ? html`<p>Nothing is being processed.</p>`
    : html`<ul class="rows">
${operations.map((operation) => runningRow(operation, setting))}
</ul>`
}
</section>`;
}

function runningRow(running: RunningOperation, { now, root }: Setting): Html {
  const { workflowId, operation, progress, worker, since, attempt, state } = running;
  const percent = Math.round(progress * 100);
  const facts = [state === 'PAUSED' ? 'ends, then paused' : '', attempt > 1 ? `attempt ${attempt}` : ''];
  const wish = (wanted: WantedState, name: string, kind: 'quiet' | 'danger') =>
    wishForm(running, { wanted, name, kind }, { root, back: 'now' });
  return html`<li id="run-${workflowId}"><div>${recordingLink(running, root)} <span class="faint">${facts.filter(Boolean).join(', ')}</span></div>
<div><span>${operation} <span class="faint">for ${age(since, now)}</span></span><progress data-workflow="${workflowId}" value="${progress}" max="1" aria-label="${operation}: ${percent} percent"></progress></div>
<div class="faint worker"><bdi>${worker}</bdi></div>
<div class="actions">${state === 'PAUSED' ? wish('running', 'Resume', 'quiet') : wish('paused', 'Pause', 'quiet')}${wish('stopped', 'Stop', 'danger')}</div></li>
`;
}

/** Reasons why operations may not start. */
interface WhatHolds {
  workers: readonly WorkerProcess[];
  lanes: readonly LaneSetting[];
  /** Lanes whose queue is paused itself. */
  held: Answer<readonly Lane[]>;
}

/** Recordings that wait, since when, and the reasons why they may not start. */
export function waitingSection(
  waiting: { count: number; recordings: WaitingRecording[] },
  paused: { count: number; recordings: WaitingRecording[] },
  { workers, lanes, held }: WhatHolds,
  setting: Setting,
): Html {
  const { root } = setting;
  const parts = html`<a href="${root}admin/parts">Parts</a>`;
  const working = workers.some(({ gone, draining }) => !gone && !draining);
  return html`<section id="waiting" data-live aria-labelledby="waiting-heading">
<h2 id="waiting-heading">Waiting (${countOf(waiting.count)})</h2>
${working ? '' : html`<p class="alarm">No worker takes anything: none has given a sign of life, or all are drained. See ${parts}.</p>`}
${lanes.filter(({ paused }) => paused).map(({ lane, changedBy }) => html`<p class="alarm">The lane ${lane} is paused by <bdi>${changedBy}</bdi>: what belongs to it waits. See ${parts}.</p>`)}
${'value' in held ? heldQueuesAlarm(held.value, root) : html`<p class="alarm">${held.fault} What becomes ready waits until it does.</p>`}
${waiting.count === 0 ? html`<p>Nothing waits for a worker.</p>` : rows(waiting.recordings, setting)}
${more(waiting)}
${
  paused.count === 0
    ? ''
    : html`<h3 id="paused">Waiting for somebody (${countOf(paused.count)})</h3>
${rows(paused.recordings, setting, true)}
${more(paused)}`
}
</section>`;
}

function rows(recordings: readonly WaitingRecording[], { now, root }: Setting, paused = false): Html {
  return html`<ul class="rows">
${recordings.map(
  (each) => html`<li><div>${recordingLink(each, root)}</div>
<div>${each.operation} <span class="faint">for ${age(each.since, now)}</span></div>
<div class="faint">${each.notBefore === null ? '' : html`tried again at ${moment(each.notBefore)} UTC: `}${each.reason ?? ''}</div>
${
  paused
    ? html`<div class="actions">${wishForm(each, { wanted: 'running', name: 'Resume', kind: 'quiet' }, { root, back: 'now' })}</div>`
    : html`<div></div>`
}</li>
`,
)}
</ul>`;
}

function more({ count, recordings }: { count: number; recordings: readonly unknown[] }): Html | '' {
  return count > recordings.length
    ? html`<p class="faint">These are the ${recordings.length} that wait for longest.</p>`
    : '';
}

function countOf(count: number): string {
  return count > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(count);
}

/** Uploads that come in, and those that wait to be finished. */
export function uploadsSection(
  incoming: { count: number; bytes: number; latest: IncomingUpload[] },
  resumable: Awaited<ReturnType<typeof waitingUploads>>,
  { now, root }: Setting,
): Html {
  const count = incoming.count + resumable.count;
  return html`<section id="uploads" data-live aria-labelledby="uploads-heading">
<h2 id="uploads-heading">Uploads on their way (${count})</h2>
${
  count === 0
    ? html`<p>No upload is under way.</p>`
    : html`<ul class="rows">
${incoming.latest.map((upload) => uploadRow(upload, html`begun ${age(upload.createdAt, now)} ago`, 'at most '))}
${resumable.latest.map((upload) => uploadRow({ ...upload, received: upload.offset }, html`resumable, last heard of ${age(upload.changedAt, now)} ago`))}
</ul>
<p class="faint">${sizeOf(incoming.bytes + resumable.bytes)} of them have come. <a href="${root}admin/uploads">All uploads</a></p>`
}
</section>`;
}

function uploadRow(
  { filename, owner, received, length }: Pick<IncomingUpload, 'filename' | 'owner' | 'received' | 'length'>,
  since: Html,
  most = '',
): Html {
  const share = length === undefined ? undefined : Math.floor((received / Math.max(length, 1)) * 100);
  return html`<li><div><bdi>${filename}</bdi></div><div>${sizeOf(received)}${length === undefined ? '' : ` of ${most}${sizeOf(length)}`}${share === undefined ? '' : html`<progress value="${received}" max="${Math.max(length ?? 1, 1)}" aria-label="${share} percent"></progress>`}</div><div class="faint"><bdi>${owner}</bdi></div><div class="faint">${since}</div></li>
`;
}

/** The lecture halls in a line each, those that need somebody first. */
export function hallsSection({ count, inTrouble, agents }: AgentsAtWork, { now, root }: Setting): Html | '' {
  if (count === 0) return '';
  return html`<section id="halls" data-live aria-labelledby="halls-heading">
<h2 id="halls-heading">Halls (${count}${inTrouble > 0 ? html`, <span class="alarm">${inTrouble === 1 ? '1 needs somebody' : `${inTrouble} need somebody`}</span>` : ''})</h2>
<ul class="rows halls">
${agents.map(
  ({
    id,
    state,
    since,
    current,
    next,
    isInTrouble,
  }) => html`<li><div><a href="${root}admin/agents?agent=${encodeURIComponent(id)}"><bdi>${id}</bdi></a></div>
<div class="${isInTrouble ? 'alarm' : ''}">${state} <span class="faint">for ${age(since, now)}</span></div>
<div>${current ? html`${titleOf(current)}${current.trouble === null ? '' : html` <span class="alarm">${current.trouble === 'lost' ? 'silent since it began' : 'has not begun'}</span>`}` : html`<span class="faint">free</span>`}</div>
<div class="faint">${next ? html`next: ${moment(next.start)} UTC ${titleOf(next)}` : ''}</div></li>
`,
)}
</ul>
${count > agents.length ? html`<p class="faint"><a href="${root}admin/agents">All ${count} capture agents</a></p>` : ''}
</section>`;
}

/** Finds lanes whose queue was paused in the dashboard of queues, past the settings of lanes. */
export async function heldQueues(queue: WorkQueue): Promise<Lane[]> {
  await queue.check();
  const paused = await Promise.all(queue.queues().map((each) => each.isPaused()));
  return LANES.filter((_, i) => paused[i]);
}

/** A warning for each queue that is paused. @param root where the server's paths begin */
export function heldQueuesAlarm(lanes: readonly Lane[], root: string): Html {
  return html`${lanes.map((lane) => html`<p class="alarm">The queue of the lane ${lane} itself is paused: what belongs to it waits. It can be resumed among the <a href="${root}admin/queues/">queues</a>.</p>`)}`;
}
