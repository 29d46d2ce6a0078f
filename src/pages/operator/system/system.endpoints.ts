import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { UpdateStreams } from '#notifications/stream/update-streams.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { LANES, type WorkQueue } from '#platform/queue/work-queue.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { StoragePlace } from '#platform/storage/storage-backend.ts';
import { listLaneSettings, updateLane } from '#processing/lane-settings.ts';
import { listWorkerProcesses, setDraining } from '#processing/worker-processes.ts';
import { rootFrom } from '../../urls/relative-urls.ts';
import { laneLoads, runningOperations } from '../dashboard/work.queries.ts';
import { findPausedQueues } from '../dashboard/work-sections.ts';
import { operatorPage, redirectWithNotice } from '../frame/operator-page.ts';
import { ROWS_STYLE } from '../frame/operator-style.ts';
import { answerOf } from '../frame/page-elements.ts';
import { databaseFacts } from './database-facts.queries.ts';
import { lanesSection, otherSections, workersSection } from './system-page.ts';

const PATH = 'admin/parts';
const MOST_RUNNING = 200;

const STYLE = `${ROWS_STYLE}
.sheet + .sheet { margin-top: .8rem; }
.sheet > p { margin: .3rem 0 .6rem; }
.plain li { margin: .3rem 0; }
.inline { display: flex; flex-wrap: wrap; gap: .4rem; align-items: end; margin: 0; }
.inline label { margin: 0; color: var(--faint); font-size: .85rem; font-weight: 400; }
.inline input:not([type=hidden]) { margin: 0; padding: .3rem .5rem; }
.rows button, .sheet form button { margin: 0; padding: .35rem .8rem; font-size: .92rem; }
`;

interface Services {
  database: Database;
  queue: WorkQueue;
  storage: ObjectStorage;
  streams: UpdateStreams;
  config: { storage: Pick<StoragePlace, 'name'> };
}

/** Shows operators the workers, the lanes and the services they need. */
export const operatorSystem = defineEndpoint({
  method: 'get',
  path: '/admin/parts',
  access: ADMINISTRATORS,
  handle: async ({ c }, { database, queue, storage, streams, config }: Services) => {
    const setting = { now: new Date(), root: rootFrom(c) };
    const [workers, running, lanes, facts, jobs, stored] = await Promise.all([
      answerOf('The database', listWorkerProcesses(database)),
      answerOf('The database', runningOperations(database, MOST_RUNNING)),
      answerOf('The database', lanesOf(database)),
      answerOf('The database', databaseFacts(database)),
      answerOf('The queue', queueFacts(queue)),
      answerOf('The object storage', storage.check()),
    ]);
    const content = html`${workersSection(workers, 'value' in running ? running.value.entries : [], setting)}
${lanesSection(lanes, setting)}
${otherSections(
  {
    database: facts,
    queue: jobs,
    storage: 'value' in stored ? { value: config.storage.name } : stored,
    streams: streams.count,
  },
  setting.root,
)}`;
    return operatorPage(c, { title: 'System', content, style: STYLE, current: PATH, follows: 'kind:operation' });
  },
});

export const operatorLanes = defineEndpoint({
  method: 'post',
  path: '/admin/parts/lanes',
  access: ADMINISTRATORS,
  form: {
    schema: z.object({
      lane: z.enum(LANES),
      paused: z.enum(['true', 'false']).optional(),
      concurrency: z
        .string()
        .regex(/^(|[1-9]\d?|1\d\d|2[0-4]\d|25[0-6])$/, {
          error: "The form parameter 'concurrency' must be an integer from 1 to 256, or empty for the default.",
        })
        .optional(),
    }),
    example: { lane: 'heavy', paused: 'true' },
  },
  handle: async ({ c, form }, { database }: Services) => {
    const { lane, paused, concurrency } = await form();
    await updateLane(database, lane, {
      ...(paused !== undefined && { paused: paused === 'true' }),
      ...(concurrency !== undefined && { concurrency: concurrency === '' ? null : Number(concurrency) }),
      by: c.var.principal.username,
    });
    const notices = [
      paused === 'true' ? 'is paused' : '',
      paused === 'false' ? 'is resumed' : '',
      concurrency === '' ? 'has the default concurrency of each worker' : '',
      concurrency ? `has a concurrency of ${concurrency} per worker` : '',
    ].filter(Boolean);
    return redirectWithNotice(c, PATH, `The lane ${lane} ${notices.join(' and ') || 'is unchanged'}.`);
  },
});

export const operatorWorkers = defineEndpoint({
  method: 'post',
  path: '/admin/parts/workers',
  access: ADMINISTRATORS,
  form: {
    schema: z.object({ worker: z.string(), draining: z.enum(['true', 'false']) }),
    example: { worker: 'worker-host-42-a1b2c3d4', draining: 'true' },
  },
  handle: async ({ c, form }, { database }: Services) => {
    const { worker, draining } = await form();
    if (!(await setDraining(database, worker, draining === 'true'))) throw notFound();
    const state =
      draining === 'true' ? 'accepts no new work and finishes its running operations' : 'accepts work again';
    return redirectWithNotice(c, PATH, `${worker} ${state}.`);
  },
});

async function lanesOf(database: Database) {
  const [loads, settings] = await Promise.all([laneLoads(database, LANES), listLaneSettings(database)]);
  return { loads, settings };
}

/** Counts the jobs in the queue of each lane, and finds the paused queues. */
async function queueFacts(queue: WorkQueue) {
  const [paused, counts] = await Promise.all([
    findPausedQueues(queue),
    Promise.all(queue.queues().map((each) => each.getWaitingCount())),
  ]);
  const jobs = Object.fromEntries(LANES.map((lane, i) => [lane, counts[i] ?? 0]));
  return { kind: queue.kind, jobs, paused };
}
