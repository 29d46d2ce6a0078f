import { Hono } from 'hono';
import type { Action } from '../access/acl.queries.ts';
import type { Database } from '../database/kysely.ts';
import { conditionalJson } from '../http/conditional-json.ts';
import { notFound } from '../http/errors.ts';
import { isTrue, pageParameters } from '../http/query.ts';
import { versionedJson } from '../http/version.ts';
import type { StagingLedger } from '../storage/staging.ts';
import { deleteEvent } from './delete-event.ts';
import { loadExtras } from './extras.ts';
import { eventJson } from './json.ts';
import { findEvent, listEvents } from './queries.ts';

export interface EventDependencies {
  publicUrl: string;
  database: Database;
  staging: StagingLedger;
}

/** `GET /api/events`, and the reading and deleting of one event. */
export function eventRoutes({ publicUrl, database, staging }: EventDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events', async (c) => {
    const { principal, version } = c.var;
    const action: Action = isTrue(c.req.query('onlyWithWriteAccess')) ? 'write' : 'read';
    const events = await listEvents(database, principal, action, pageParameters(c.req.query()));
    const extras = await loadExtras(
      database,
      events.map(({ id }) => id),
      c.req.query(),
      { publicUrl, version },
    );
    return versionedJson(
      c,
      events.map((event) => eventJson(event, version, extras(event.id))),
    );
  });

  app.get('/api/events/:id', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    const event = await findEvent(database, id, principal);
    if (!event) throw notFound(`Cannot find an event with id '${id}'.`);
    const extras = await loadExtras(database, [id], c.req.query(), { publicUrl, version });
    return conditionalJson(c, eventJson(event, version, extras(id)));
  });

  app.delete('/api/events/:id', async (c) => {
    const { principal, log } = c.var;
    await deleteEvent(c.req.param('id'), principal, { database, staging, log });
    return c.body(null, 204);
  });

  return app;
}
