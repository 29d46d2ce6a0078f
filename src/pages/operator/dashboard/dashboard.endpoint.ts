import { html } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { listAgentActivity } from '#capture/reports/agent-activity.queries.ts';
import { listIncomingUploads } from '#ingest/incoming-uploads.ts';
import { listWaitingUploads } from '#ingest/tus/tus-uploads.ts';
import { recentImports } from '#maintenance/import/import-items.queries.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import type { WorkQueue } from '#platform/queue/work-queue.ts';
import { listLaneSettings } from '#processing/lane-settings.ts';
import { listWorkerProcesses } from '#processing/worker-processes.ts';
import { rootFrom } from '../../urls/relative-urls.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { ROWS_STYLE } from '../frame/operator-style.ts';
import { answerOf } from '../frame/page-elements.ts';
import { searchForm } from '../recordings/recording-list-query.ts';
import { failedSection } from './failed-recordings.ts';
import { importsSection } from './imports-section.ts';
import { failedRecordings, pausedRecordings, queuedRecordings, runningOperations } from './work.queries.ts';
import { agentsSection, findPausedQueues, queuedSection, runningSection, uploadsSection } from './work-sections.ts';

const MOST_RUNNING = 100;
const MOST_QUEUED = 20;
const MOST_UPLOADS = 10;
const MOST_AGENTS = 30;

/** Shows operators the failed, running and queued recordings, the uploads and the capture agents. */
export const operatorDashboard = defineEndpoint({
  method: 'get',
  path: '/admin',
  access: ADMINISTRATORS,
  query: z.object({ reason: z.string().optional() }),
  handle: async ({ c, query }, { database, queue }: { database: Database; queue: WorkQueue }) => {
    const setting = { now: new Date(), root: rootFrom(c) };
    const [failed, running, queued, paused, incoming, resumable, agents, workers, lanes, imports, pausedQueues] =
      await Promise.all([
        failedRecordings(database),
        runningOperations(database, MOST_RUNNING),
        queuedRecordings(database, MOST_QUEUED),
        pausedRecordings(database, MOST_QUEUED),
        listIncomingUploads(database, MOST_UPLOADS),
        listWaitingUploads(database, MOST_UPLOADS),
        listAgentActivity(database, { search: '' }, MOST_AGENTS),
        listWorkerProcesses(database),
        listLaneSettings(database),
        recentImports(database),
        answerOf('The queue', findPausedQueues(queue)),
      ]);
    const content = html`${searchForm(setting.root)}
${failedSection(failed, query().reason, setting)}
${runningSection(running, setting)}
${queuedSection(queued, paused, { workers, lanes, pausedQueues }, setting)}
${uploadsSection(incoming, resumable, setting)}
${importsSection(imports, setting)}
${agentsSection(agents, setting)}`;
    return operatorPage(c, {
      title: 'Dashboard',
      content,
      style: STYLE,
      current: 'admin',
      follows: 'kind:workflow,kind:operation,kind:event,kind:agent',
    });
  },
});

const STYLE = `${ROWS_STYLE}
.rows.agents li { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1.5fr) minmax(0, 1.5fr); }
.heading > * { min-width: 0; overflow-wrap: anywhere; }
.worker { font-size: .85rem; }
.failure { padding: .8rem 1rem 1rem; }
.failure + .failure { margin-top: .8rem; }
.failure .recordings { margin-top: .6rem; background: none; }
.heading > :first-child { flex: 1 1 20rem; }
.recordings .faint { display: block; font-size: .92rem; }
section h3 { margin: 1.2rem 0 .5rem; }
.failure h3 { margin: 0; }
section > p.faint { margin: .5rem 0 0; }
@media (max-width: 46rem) { .rows.agents li { grid-template-columns: minmax(0, 1fr); } }
`;
