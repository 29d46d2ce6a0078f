import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import type { Lane } from '#platform/queue/work-queue.ts';
import type { LaneSetting } from '#processing/lane-settings.ts';
import type { WorkerProcess } from '#processing/worker-processes.ts';
import type { LaneLoad, RunningOperation } from '../dashboard/work.queries.ts';
import { countOf, pausedQueuesAlarm, progressBar } from '../dashboard/work-sections.ts';
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
import type { DatabaseFacts } from './database-facts.queries.ts';

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
${own.length === 0 ? '' : html`<ul class="plain">${own.map((operation) => html`<li>${operation.operation}: ${recordingLink(operation, root)} <span class="faint">for ${age(operation.since, now)}</span>${progressBar(operation)}</li>`)}</ul>`}
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
<div>${countOf(ready)} queued${oldest ? html` <span class="faint">(oldest: ${age(oldest, now)})</span>` : ''}, ${running} running</div>
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
  /** The number of open update streams. */
  streams: number;
}

/** The database, the queue, the object storage and this process. */
export function otherSections({ database, queue, storage, streams }: OtherParts, root: string): Html {
  const { deno, node } = process.versions;
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
    ['Runtime', deno ? `Deno ${deno}` : `Node ${node}`],
    ['Memory', sizeOf(process.memoryUsage().rss)],
    ['Up for', `${Math.round(process.uptime() / 60)} min`],
    ['Open update streams', String(streams)],
  ]),
)}`;
}

function section<T>(id: string, name: string, answer: Answer<T>, show: (value: T) => Html): Html {
  return liveSection(id, name, 'value' in answer ? show(answer.value) : html`<p class="alarm">${answer.fault}</p>`);
}
