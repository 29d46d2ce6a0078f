import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { isDatabaseOutage } from '#platform/database/outage.ts';
import { badRequest, HttpError } from '#platform/http/errors/errors.ts';
import type { WorkQueue } from '#platform/queue/port.ts';

/** The path of the dashboard. */
export const DASHBOARD_PATH = '/admin/queues';

/**
 * bull-board over the queues, whichever backend they have. Retrying is left out: a job carries no work of its own,
 * so running it again changes nothing (the database decides what is to be done).
 */
export function dashboardRoutes(queue: WorkQueue): Hono {
  const adapter = new HonoAdapter(serveStatic);
  adapter.setBasePath(DASHBOARD_PATH);
  const shown = () => queue.queues().map((each) => new BullMQAdapter(each, { allowRetries: false }));
  const board = createBullBoard({
    queues: shown(),
    serverAdapter: adapter,
    options: {
      uiConfig: { boardTitle: 'Inlet', miscLinks: [{ text: 'Account and sign-out', url: '/admin' }] },
    },
  });
  const app = new Hono();
  app.use(`${DASHBOARD_PATH}/*`, async (c, next) => {
    await requireQueue(queue);
    // They are others after an outage.
    board.replaceQueues(shown());
    await next();
    if (c.res.headers.get('Content-Type')?.startsWith('text/html')) {
      c.res = new Response(withoutOutsideHosts(await c.res.text()), c.res);
    }
  });
  // Registered by bull-board without the slash; browsers resolve its assets against the path with one.
  app.route(DASHBOARD_PATH, withOurErrors(adapter, queue));
  return app;
}

/** Handles its failures as errors of this server: bull-board would answer with the backend's words, and log nothing. */
function withOurErrors(adapter: HonoAdapter, queue: WorkQueue): Hono {
  adapter.setErrorHandler((error) => {
    throw error;
  });
  const board = adapter.registerPlugin();
  board.onError(async (error) => {
    if (error instanceof URIError) throw badRequest('The address is not percent-encoded UTF-8.');
    if (isDatabaseOutage(error)) throw queueAway();
    await requireQueue(queue);
    throw error;
  });
  return board;
}

/** @throws {HttpError} 503 */
async function requireQueue(queue: WorkQueue): Promise<void> {
  await queue.check().catch(() => {
    throw queueAway();
  });
}

function queueAway(): HttpError {
  return new HttpError(503, 'The queue does not answer.', { 'Retry-After': '5' });
}

/** Removes a font of another host from the page of bull-board: no other host may see who opens it. */
function withoutOutsideHosts(html: string): string {
  return html.replaceAll(/<link\b[^>]*\bhref="(https?:)?\/\/[^"]*"[^>]*>/g, '');
}
