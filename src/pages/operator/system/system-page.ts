import { html } from 'hono/html';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import type { Lane } from '#platform/queue/work-queue.ts';
import type { LaneSetting } from '#processing/lane-settings.ts';
import type { WorkerProcess } from '#processing/worker-processes.ts';
import { pausedQueuesAlarm, type RunningOperation } from '../dashboard/work-sections.ts';
import { sizeOf } from '../frame/format-units.ts';
import {
  type Answer,
  age,
  factList,
  liveSection,
  moment,
  type PageSetting,
  recordingLink,
} from '../frame/page-elements.ts';

/** Larger numbers are not counted. */
const MOST_COUNTED = 10_000;

/** The work of a lane. */
interface LaneLoad {
  lane: string;
  /** Operations that can start; `MOST_COUNTED + 1` for more. */
  ready: number;
  running: number;
  /** The time since which the first ready operation waits. */
  oldest: Date | null;
}

export async function laneLoads(database: Database, lanes: readonly string[]): Promise<LaneLoad[]> {
  const { rows } = await sql<LaneLoad>`
    SELECT given.lane, waiting.count AS ready, waiting.oldest,
      (SELECT count(*) FROM workflow_operations o WHERE o.state = 'running' AND o.lane = given.lane) AS running
    FROM unnest(${lanes}::text[]) WITH ORDINALITY AS given (lane, place) CROSS JOIN LATERAL (
      SELECT count(*) AS count, min(w.created_at) AS oldest FROM (
        SELECT workflow_id FROM workflow_operations o WHERE o.state = 'ready' AND o.lane = given.lane LIMIT ${MOST_COUNTED + 1}
      ) AS ready JOIN workflows w ON w.id = ready.workflow_id
    ) AS waiting ORDER BY place`.execute(database);
  return rows;
}

interface DatabaseFacts {
  version: string;
  bytes: number;
  connections: number;
  mostConnections: number;
  /** Seconds since the oldest transaction began; null without one. */
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

/** The worker processes and their operations. */
export function workersSection(
  workers: Answer<WorkerProcess[]>,
  running: readonly RunningOperation[],
  setting: PageSetting,
): Html {
  return section('workers', 'Workers', workers, (all) =>
    all.length === 0
      ? html`<p class="alarm">No worker is alive; nothing is processed.</p>`
      : html`${all.map((worker) => workerHtml(worker, running, setting))}`,
  );
}

function workerHtml(worker: WorkerProcess, running: readonly RunningOperation[], { now, root }: PageSetting): Html {
  const { name, host, pid, runtime, version, startedAt, seenAt, draining } = worker;
  const own = running.filter((operation) => operation.worker === name);
  const [state, tone] = workerState(worker);
  return html`<article class="sheet" id="worker-${name}"><div class="heading"><h3><bdi>${name}</bdi></h3><span class="state ${tone}">${state}</span></div>
<p class="faint">${host}, process ${pid} · ${runtime}, Inlet ${version} · up for ${age(startedAt, now)}, seen ${age(seenAt, now)} ago</p>
${own.length === 0 ? '' : html`<ul class="plain">${own.map((operation) => html`<li>${operation.operation}: ${recordingLink(operation, root)} <span class="faint">for ${age(operation.since, now)}</span><progress data-workflow="${operation.workflowId}" value="${operation.progress}" max="1" aria-label="${Math.round(operation.progress * 100)} percent"></progress></li>`)}</ul>`}
${state === 'gone' ? '' : html`<form method="post" action="${root}admin/parts/workers"><input type="hidden" name="worker" value="${name}"><input type="hidden" name="draining" value="${draining ? 'false' : 'true'}"><button class="quiet">${draining ? 'Resume' : 'Drain'}</button></form>`}
</article>`;
}

/** Returns the state of a worker and the class of its colour. */
function workerState({ gone, draining, busy }: WorkerProcess): [state: string, tone: string] {
  if (gone) return ['gone', 'failed'];
  if (draining) return [busy === 0 ? 'drained' : 'draining', 'paused'];
  return busy > 0 ? ['running', 'running'] : ['idle', 'succeeded'];
}

/** The lanes: their operations and settings. */
export function lanesSection(
  lanes: Answer<{ loads: LaneLoad[]; settings: LaneSetting[] }>,
  { now, root }: PageSetting,
): Html {
  return section('lanes', 'Lanes', lanes, ({ loads, settings }) => {
    const rows = loads.map(({ lane, ready, running, oldest }) => {
      const setting = settings.find((each) => each.lane === lane);
      const isPaused = setting?.paused === true;
      const resume = isPaused ? 'Resume' : 'Pause';
      return html`<li id="lane-${lane}"><div><strong>${lane}</strong>${isPaused ? html` <span class="state paused">paused</span> <span class="faint">by <bdi>${setting.changedBy}</bdi>, ${moment(setting.changedAt)} UTC</span>` : ''}</div>
<div>${ready > MOST_COUNTED ? `more than ${MOST_COUNTED}` : ready} queued${oldest ? html` <span class="faint">(oldest: ${age(oldest, now)})</span>` : ''}, ${running} running</div>
<form class="inline" method="post" action="${root}admin/parts/lanes"><input type="hidden" name="lane" value="${lane}"><label>Concurrency per worker <input type="number" name="concurrency" min="1" max="256" value="${setting?.concurrency ?? ''}" placeholder="default"></label><button class="quiet" aria-label="Set the concurrency of the lane ${lane}">Set</button></form>
<form method="post" action="${root}admin/parts/lanes"><input type="hidden" name="lane" value="${lane}"><input type="hidden" name="paused" value="${isPaused ? 'false' : 'true'}"><button class="${isPaused ? '' : 'quiet'}" aria-label="${resume} the lane ${lane}">${resume}</button></form></li>
`;
    });
    return html`<ul class="rows">${rows}</ul>`;
  });
}

interface OtherParts {
  database: Answer<DatabaseFacts>;
  queue: Answer<{ kind: string; jobs: Record<string, number>; paused: readonly Lane[] }>;
  storage: Answer<string>;
  process: { runtime: string; rss: number; upSeconds: number; streams: number };
}

/** The database, the queue, the object storage and this process. */
export function otherSections({ database, queue, storage, process }: OtherParts, root: string): Html {
  return html`${section(
    'database',
    'Database',
    database,
    ({ version, bytes, connections, mostConnections, oldestTransaction }) =>
      factList([
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
  ({ kind, jobs, paused }) =>
    html`${pausedQueuesAlarm(paused, root)}${factList([
      ['Backend', kind === 'redis' ? 'Redis' : 'PostgreSQL'],
      ...Object.entries(jobs).map(([lane, count]): [string, string] => [`Queued in ${lane}`, String(count)]),
    ])}`,
)}
${section('storage', 'Object storage', storage, (kind) =>
  factList([
    ['Backend', kind],
    ['State', 'available'],
  ]),
)}
${liveSection(
  'process',
  'API process of this page',
  factList([
    ['Runtime', process.runtime],
    ['Memory', sizeOf(process.rss)],
    ['Up for', `${Math.round(process.upSeconds / 60)} min`],
    ['Open update streams', String(process.streams)],
  ]),
)}`;
}

function section<T>(id: string, name: string, answer: Answer<T>, show: (value: T) => Html): Html {
  return liveSection(id, name, 'value' in answer ? show(answer.value) : html`<p class="alarm">${answer.fault}</p>`);
}
