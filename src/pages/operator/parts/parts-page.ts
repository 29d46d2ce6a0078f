import { html } from 'hono/html';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/page.ts';
import type { Lane } from '#platform/queue/port.ts';
import type { LaneSetting } from '#processing/lane-settings.ts';
import type { WorkerProcess } from '#processing/worker-processes.ts';
import { type Answer, age, moment, recordingLink } from '../frame/page-elements.ts';
import { sizeOf } from '../frame/words.ts';
import { heldQueuesAlarm, type RunningOperation } from '../now/work-sections.ts';

/** Counts go no further. */
const COUNTED = 10_000;

/** How much there is to do in a lane. */
interface LaneLoad {
  lane: string;
  /** Operations that could begin; `COUNTED + 1` for more. */
  ready: number;
  running: number;
  /** Since when the first of those that are ready waits. */
  oldest: Date | null;
}

/** How much there is to do, by lane. */
export async function laneLoads(database: Database, lanes: readonly string[]): Promise<LaneLoad[]> {
  const { rows } = await sql<LaneLoad>`
    SELECT given.lane, waiting.count AS ready, waiting.oldest,
      (SELECT count(*) FROM workflow_operations o WHERE o.state = 'running' AND o.lane = given.lane) AS running
    FROM unnest(${lanes}::text[]) WITH ORDINALITY AS given (lane, place) CROSS JOIN LATERAL (
      SELECT count(*) AS count, min(w.created_at) AS oldest FROM (
        SELECT workflow_id FROM workflow_operations o WHERE o.state = 'ready' AND o.lane = given.lane LIMIT ${COUNTED + 1}
      ) AS ready JOIN workflows w ON w.id = ready.workflow_id
    ) AS waiting ORDER BY place`.execute(database);
  return rows;
}

/** What the database says of itself. */
interface DatabaseFacts {
  version: string;
  bytes: number;
  connections: number;
  mostConnections: number;
  /** Seconds since the oldest transaction began; null when there is none. */
  oldestTransaction: number | null;
}

export async function databaseFacts(database: Database): Promise<DatabaseFacts> {
  const { rows } = await sql<DatabaseFacts>`
    SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
      (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
      current_setting('max_connections')::integer AS "mostConnections",
      (SELECT extract(epoch FROM now() - min(xact_start))::float8 FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle') AS "oldestTransaction"`.execute(
    database,
  );
  return rows[0] as DatabaseFacts;
}

interface Setting {
  now: Date;
  /** Where the server's paths begin. */
  root: string;
}

/** The processes with workers and what each of them does. */
export function workersSection(
  workers: Answer<WorkerProcess[]>,
  running: readonly RunningOperation[],
  setting: Setting,
): Html {
  return section('workers', 'Workers', workers, (all) =>
    all.length === 0
      ? html`<p class="alarm">No process with workers has given a sign of life: nothing is processed.</p>`
      : html`${all.map((worker) => workerHtml(worker, running, setting))}`,
  );
}

function workerHtml(worker: WorkerProcess, running: readonly RunningOperation[], { now, root }: Setting): Html {
  const { name, host, pid, runtime, version, startedAt, seenAt, draining, gone, busy } = worker;
  const own = running.filter((operation) => operation.worker === name);
  const state = gone ? 'gone' : draining ? (busy === 0 ? 'drained' : 'draining') : busy > 0 ? 'running' : 'idle';
  return html`<article class="sheet" id="worker-${name}"><div class="heading"><h3><bdi>${name}</bdi></h3><span class="state ${state === 'gone' ? 'failed' : state === 'drained' || state === 'draining' ? 'paused' : state === 'running' ? 'running' : 'succeeded'}">${state}</span></div>
<p class="faint">${host}, process ${pid} · ${runtime}, Inlet ${version} · up for ${age(startedAt, now)}, seen ${age(seenAt, now)} ago</p>
${own.length === 0 ? '' : html`<ul class="plain">${own.map((operation) => html`<li>${operation.operation}: ${recordingLink(operation, root)} <span class="faint">for ${age(operation.since, now)}</span><progress data-workflow="${operation.workflowId}" value="${operation.progress}" max="1" aria-label="${Math.round(operation.progress * 100)} percent"></progress></li>`)}</ul>`}
${gone ? '' : html`<form method="post" action="${root}admin/parts/workers"><input type="hidden" name="worker" value="${name}"><input type="hidden" name="draining" value="${draining ? 'false' : 'true'}"><button class="quiet">${draining ? 'Let it work again' : 'Drain'}</button></form>`}
</article>`;
}

/** What waits in each lane, and how it is set. */
export function lanesSection(
  lanes: Answer<{ loads: LaneLoad[]; settings: LaneSetting[] }>,
  { now, root }: Setting,
): Html {
  return section(
    'lanes',
    'Lanes',
    lanes,
    ({ loads, settings }) => html`<ul class="rows">
${loads.map((load) => {
  const setting = settings.find(({ lane }) => lane === load.lane);
  const { ready, running, oldest } = load;
  return html`<li id="lane-${load.lane}"><div><strong>${load.lane}</strong>${setting?.paused ? html` <span class="state paused">paused</span> <span class="faint">by <bdi>${setting.changedBy}</bdi>, ${moment(setting.changedAt)} UTC</span>` : ''}</div>
<div>${ready > COUNTED ? `more than ${COUNTED}` : ready} ${ready === 1 ? 'waits' : 'wait'}${oldest ? html` <span class="faint">(the first for ${age(oldest, now)})</span>` : ''}, ${running} ${running === 1 ? 'runs' : 'run'}</div>
<form class="inline" method="post" action="${root}admin/parts/lanes"><input type="hidden" name="lane" value="${load.lane}"><label>At once, in each worker <input type="number" name="concurrency" min="1" max="256" value="${setting?.concurrency ?? ''}" placeholder="as started"></label><button class="quiet" aria-label="Set how many operations of the lane ${load.lane} run at once">Set</button></form>
<form method="post" action="${root}admin/parts/lanes"><input type="hidden" name="lane" value="${load.lane}"><input type="hidden" name="paused" value="${setting?.paused ? 'false' : 'true'}"><button class="${setting?.paused ? '' : 'quiet'}" aria-label="${setting?.paused ? 'Resume' : 'Pause'} the lane ${load.lane}">${setting?.paused ? 'Resume' : 'Pause'}</button></form></li>
`;
})}</ul>`,
  );
}

/** What the other parts say of themselves. */
interface OtherParts {
  database: Answer<DatabaseFacts>;
  queue: Answer<{ kind: string; jobs: Record<string, number>; held: readonly Lane[] }>;
  storage: Answer<string>;
  process: { runtime: string; rss: number; upSeconds: number; streams: number };
}

export function otherSections({ database, queue, storage, process }: OtherParts, root: string): Html {
  return html`${section(
    'database',
    'Database',
    database,
    ({ version, bytes, connections, mostConnections, oldestTransaction }) =>
      facts([
        ['PostgreSQL', version],
        ['Size', sizeOf(bytes)],
        ['Connections', `${connections} of ${mostConnections}`],
        ['Oldest transaction', oldestTransaction === null ? 'none' : `${Math.round(oldestTransaction)} s`],
      ]),
  )}
${section(
  'queue',
  'Queue',
  queue,
  ({ kind, jobs, held }) =>
    html`${heldQueuesAlarm(held, root)}${facts([
      ['Over', kind === 'redis' ? 'Redis' : 'PostgreSQL'],
      ...Object.entries(jobs).map(([lane, count]): [string, string] => [`Waiting in ${lane}`, String(count)]),
    ])}`,
)}
${section('storage', 'Object storage', storage, (kind) =>
  facts([
    ['Kept in', kind],
    ['State', 'answers'],
  ]),
)}
<section id="process" data-live aria-labelledby="process-heading"><h2 id="process-heading">The process that shows this page</h2>
${facts([
  ['Runtime', process.runtime],
  ['Memory', sizeOf(process.rss)],
  ['Up for', `${Math.round(process.upSeconds / 60)} min`],
  ['Following updates', String(process.streams)],
])}</section>`;
}

function section<T>(id: string, name: string, answer: Answer<T>, show: (value: T) => Html): Html {
  return html`<section id="${id}" data-live aria-labelledby="${id}-heading"><h2 id="${id}-heading">${name}</h2>
${'value' in answer ? show(answer.value) : html`<p class="alarm">${answer.fault}</p>`}</section>`;
}

function facts(rows: readonly (readonly [string, string])[]): Html {
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
