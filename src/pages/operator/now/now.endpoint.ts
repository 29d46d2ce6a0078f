import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { agentsAtWork } from '#capture/reports/at-work.queries.ts';
import { incomingUploads } from '#ingest/incoming.queries.ts';
import { waitingUploads } from '#ingest/tus/waiting.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import type { WorkQueue } from '#platform/queue/port.ts';
import { laneSettings } from '#processing/lane-settings.ts';
import { workerProcesses } from '#processing/worker-processes.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { answerOf } from '../frame/answer-of.ts';
import { noticeOf, operatorPage } from '../frame/operator-page.ts';
import { searchForm } from '../recordings/search-form.ts';
import { failedRecordings } from './failed.queries.ts';
import { failedSection } from './failed.ts';
import { heldQueues } from './held-queues.ts';
import { pausedRecordings, runningOperations, waitingRecordings } from './running.queries.ts';
import { NOW_STYLE } from './style.ts';
import { hallsSection, runningSection, uploadsSection, waitingSection } from './under-way.ts';

const MOST_RUNNING = 100;
const MOST_WAITING = 20;
const MOST_UPLOADS = 10;
const MOST_HALLS = 30;

/** Where operators see what failed and why, what runs, and what waits. */
export const operatorHome = defineEndpoint({
  method: 'get',
  path: '/admin',
  access: ADMINISTRATORS,
  query: z.object({ reason: z.string().optional() }),
  handle: async ({ c, query }, { database, queue }: { database: Database; queue: WorkQueue }) => {
    const setting = { now: new Date(), root: rootFrom(c) };
    const [failed, running, waiting, paused, incoming, resumable, halls, workers, lanes, held] =
      await Promise.all([
        failedRecordings(database),
        runningOperations(database, MOST_RUNNING),
        waitingRecordings(database, MOST_WAITING),
        pausedRecordings(database, MOST_WAITING),
        incomingUploads(database, MOST_UPLOADS),
        waitingUploads(database, MOST_UPLOADS),
        agentsAtWork(database, { search: '' }, MOST_HALLS),
        workerProcesses(database),
        laneSettings(database),
        answerOf('The queue', heldQueues(queue)),
      ]);
    const content = html`${searchForm(setting.root)}
${failedSection(failed, { ...setting, reason: query().reason })}
${runningSection(running, setting)}
${waitingSection(waiting, paused, { workers, lanes, held }, setting)}
${uploadsSection(incoming, resumable, setting)}
${hallsSection(halls, setting)}`;
    return operatorPage(c, {
      title: 'Now',
      content,
      style: NOW_STYLE,
      current: 'admin',
      notice: noticeOf(c),
      follows: 'kind:workflow,kind:operation,kind:event,kind:agent',
    });
  },
});
