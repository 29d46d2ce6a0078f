import { Hono } from 'hono';
import type { Database } from '../database/kysely.ts';
import { offers } from '../http/api-changes.ts';
import { answerList } from '../http/list/index.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import type { PublicationAddresses } from '../publications/index.ts';
import { accessibleEvents, EVENT_LIST, eventListJson } from './list.ts';
import { EventListQuery } from './query.schemas.ts';

export interface EventListDependencies extends PublicationAddresses {
  database: Database;
  catalogs: CatalogSet;
}

/** `GET /api/events`. Several filters are a union; before 1.5.0 only the first one counts. */
export function eventListRoutes({ database, catalogs, ...addresses }: EventListDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events', (c) => {
    const { principal, version } = c.var;
    const query = EventListQuery.parse(c.req.query());
    const filters = c.req.queries('filter') ?? [];
    return answerList(c, EVENT_LIST, {
      database,
      url: `${addresses.publicUrl}/api/events`,
      access: accessibleEvents(principal, query.onlyWithWriteAccess ? 'write' : 'read'),
      sort: c.req.query('sort'),
      filters: offers(version, 'eventParameters', 'repeatedFilter') ? filters : filters.slice(0, 1),
      json: (events) => eventListJson(database, events, query, { ...addresses, version, catalogs }),
    });
  });

  return app;
}
