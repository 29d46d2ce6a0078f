import { Hono } from 'hono';
import type { Database } from '../database/kysely.ts';
import { conditionalJson } from '../http/conditional-json.ts';
import { notFound } from '../http/errors.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import type { PublicationAddresses } from '../publications/index.ts';
import type { StagingLedger } from '../storage/staging.ts';
import { deleteEvent } from './delete-event.ts';
import { loadExtras } from './extras.ts';
import { eventJson } from './json.ts';
import { findEvent } from './queries.ts';
import { EventQuery } from './query.schemas.ts';

export interface EventDependencies extends PublicationAddresses {
  database: Database;
  staging: StagingLedger;
  catalogs: CatalogSet;
}

/** The reading and deleting of one event. */
export function eventRoutes({ database, staging, catalogs, ...addresses }: EventDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events/:id', async (c) => {
    const { principal, version } = c.var;
    const id = c.req.param('id');
    const event = await findEvent(database, id, principal);
    if (!event) throw notFound(`Cannot find an event with id '${id}'.`);
    const query = EventQuery.parse(c.req.query());
    const extras = await loadExtras(database, [event], query, { ...addresses, version, catalogs });
    return conditionalJson(c, eventJson(event, version, extras(id)));
  });

  app.delete('/api/events/:id', async (c) => {
    const { principal, log } = c.var;
    await deleteEvent(c.req.param('id'), principal, { database, staging, log });
    return c.body(null, 204);
  });

  return app;
}
