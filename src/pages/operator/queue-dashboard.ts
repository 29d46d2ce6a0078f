import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { isDatabaseOutage } from '#platform/database/retry.ts';
import { ICON } from '#platform/http/answer/html-page.ts';
import { badRequest, HttpError } from '#platform/http/errors/errors.ts';
import type { WorkQueue } from '#platform/queue/work-queue.ts';

const DASHBOARD_PATH = '/admin/queues';

/** Serves bull-board. Retrying is off: a job only delivers, so running it again does nothing (the database has the work). */
export function dashboardRoutes(queue: WorkQueue): Hono {
  const adapter = new HonoAdapter(serveStatic);
  adapter.setBasePath(DASHBOARD_PATH);
  const shown = () => queue.queues().map((each) => new BullMQAdapter(each, { allowRetries: false }));
  const board = createBullBoard({
    queues: shown(),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Inlet',
        boardLogo: { path: ICON },
        miscLinks: [{ text: 'Inlet dashboard', url: '/admin' }],
      },
    },
  });
  const app = new Hono();
  app.use(`${DASHBOARD_PATH}/*`, async (c, next) => {
    await requireQueue(queue);
    // An outage replaces the queues.
    board.replaceQueues(shown());
    await next();
    if (c.res.headers.get('Content-Type')?.startsWith('text/html')) {
      c.res = new Response(withoutOutsideHosts(await c.res.text()), c.res);
    }
  });
  // bull-board registers the path without a slash; browsers resolve its assets against the path with one.
  app.route(DASHBOARD_PATH, withServerErrors(adapter, queue));
  return app;
}

/** Handles failures as errors of this server: bull-board would answer with the message of the backend and log nothing. */
function withServerErrors(adapter: HonoAdapter, queue: WorkQueue): Hono {
  adapter.setErrorHandler((error) => {
    throw error;
  });
  const board = adapter.registerPlugin();
  board.onError(async (error) => {
    if (error instanceof URIError) throw badRequest('The address is not percent-encoded UTF-8.');
    if (isDatabaseOutage(error)) throw queueUnavailable();
    await requireQueue(queue);
    throw error;
  });
  return board;
}

/** @throws {HttpError} 503 */
async function requireQueue(queue: WorkQueue): Promise<void> {
  await queue.check().catch(() => {
    throw queueUnavailable();
  });
}

function queueUnavailable(): HttpError {
  return new HttpError(503, 'The queue does not answer.', { 'Retry-After': '5' });
}

/** Removes links to other hosts (a font) from the page of bull-board. */
function withoutOutsideHosts(html: string): string {
  return html.replaceAll(/<link\b[^>]*\bhref="(https?:)?\/\/[^"]*"[^>]*>/g, '');
}
