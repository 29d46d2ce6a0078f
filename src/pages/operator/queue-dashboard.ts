import type { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { isDatabaseOutage } from '#platform/database/retry.ts';
import { ICON } from '#platform/http/answer/html-page.ts';
import { badRequest, HttpError, notFound } from '#platform/http/errors/errors.ts';
import type { WorkQueue } from '#platform/queue/work-queue.ts';

const DASHBOARD_PATH = '/admin/queues';

/** Serves bull-board, which is loaded with the first request: it takes 10 MiB of memory. */
export function dashboardRoutes(queue: WorkQueue): Hono {
  let loading: ReturnType<typeof loadBoard> | undefined;
  // bull-board registers the path without a slash; browsers resolve its assets against the path with one.
  return new Hono().all(`${DASHBOARD_PATH}/*`, async (c) => {
    await requireQueue(queue);
    loading ??= loadBoard(queue);
    const { routes, refresh } = await loading;
    refresh();
    // The application that serves this removes the body of an answer to HEAD, when its length is known.
    const { raw } = c.req;
    const request = raw.method === 'HEAD' ? new Request(raw.url, { headers: raw.headers }) : raw;
    const response = await routes.fetch(request, c.env);
    if (!response.headers.get('Content-Type')?.startsWith('text/html')) return response;
    return new Response(withoutOutsideHosts(await response.text()), response);
  });
}

/** Retrying is off: a job only delivers, so running it again does nothing (the database has the work). */
async function loadBoard(queue: WorkQueue): Promise<{ routes: Hono; refresh(): void }> {
  const [{ createBullBoard }, { BullMQAdapter }, { HonoAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/hono'),
  ]);
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
  const routes = new Hono({ strict: false }).route(DASHBOARD_PATH, withServerErrors(adapter, queue));
  return {
    routes: routes
      .notFound(() => {
        throw notFound();
      })
      .onError((error) => {
        throw error;
      }),
    // An outage replaces the queues.
    refresh: () => board.replaceQueues(shown()),
  };
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
