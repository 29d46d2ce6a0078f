import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { agentsAtWork } from '#capture/reports/at-work.queries.ts';
import { incomingUploads } from '#ingest/incoming.queries.ts';
import { waitingUploads } from '#ingest/tus/uploads.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import type { WorkQueue } from '#platform/queue/port.ts';
import { laneSettings } from '#processing/lane-settings.ts';
import { workerProcesses } from '#processing/worker-processes.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { noticeOf, operatorPage } from '../frame/operator-page.ts';
import { ROWS_STYLE } from '../frame/operator-style.ts';
import { answerOf } from '../frame/page-elements.ts';
import { searchForm } from '../recordings/recording-search.endpoint.ts';
import { failedRecordings, failedSection } from './failed-recordings.ts';
import {
  hallsSection,
  heldQueues,
  pausedRecordings,
  runningOperations,
  runningSection,
  uploadsSection,
  waitingRecordings,
  waitingSection,
} from './work-sections.ts';

const MOST_RUNNING = 100;
const MOST_WAITING = 20;
const MOST_UPLOADS = 10;
const MOST_HALLS = 30;

/** Shows operators the recordings that failed, run and wait. */
export const operatorHome = defineEndpoint({
  method: 'get',
  path: '/admin',
  access: ADMINISTRATORS,
  query: z.object({ reason: z.string().optional() }),
  handle: async ({ c, query }, { database, queue }: { database: Database; queue: WorkQueue }) => {
    const setting = { now: new Date(), root: rootFrom(c) };
    const [failed, running, waiting, paused, incoming, resumable, halls, workers, lanes, held] = await Promise.all([
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

/** The style of the page. */
const NOW_STYLE = `${ROWS_STYLE}
.rows.halls li { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1.5fr) minmax(0, 1.5fr); }
.heading > * { min-width: 0; overflow-wrap: anywhere; }
.rows a, .recordings a, .faint a, section > p a { display: inline; padding: 0; border: 0; background: none; color: var(--accent); }
.worker { font-size: .85rem; }
.failure { padding: .8rem 1rem 1rem; }
.failure + .failure { margin-top: .8rem; }
.failure .recordings { margin-top: .6rem; background: none; }
.heading > :first-child { flex: 1 1 20rem; }
.recordings .faint { display: block; font-size: .92rem; }
section h3 { margin: 1.2rem 0 .5rem; }
.failure h3 { margin: 0; }
section > p.faint { margin: .5rem 0 0; }
@media (max-width: 46rem) { .rows.halls li { grid-template-columns: minmax(0, 1fr); } }
`;
