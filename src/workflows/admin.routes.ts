import { Hono } from 'hono';
import type { Database } from '../database/kysely.ts';
import { workflowsOfEvent } from './queries.ts';

/**
 * `GET /admin/events/{id}/workflows`: how far the processing of an event is, and why it failed. For operators; the
 * contract has no place for it.
 */
export function workflowAdminRoutes({ database }: { database: Database }): Hono {
  return new Hono({ strict: false }).get('/admin/events/:id/workflows', async (c) =>
    c.json(await workflowsOfEvent(database, c.req.param('id'))),
  );
}
