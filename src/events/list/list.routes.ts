import { Hono } from 'hono';
import type { Database } from '../../database/kysely.ts';
import { findPart } from '../../database/list/find.ts';
import { answerList } from '../../http/list/answer-list.ts';
import { parsePage } from '../../http/list/page-request.ts';
import { orderOf, parseSort } from '../../http/list/sort-grammar.ts';
import type { CatalogSet } from '../../metadata/catalogs.ts';
import type { PublicationAddresses } from '../../publications/index.ts';
import { loadExtras } from '../extras.ts';
import { eventJson } from '../json.ts';
import { EventListQuery } from '../query.schemas.ts';
import { eventList } from './event-list.ts';
import { EVENT_SORTS } from './sorts.ts';

export interface EventListDependencies extends PublicationAddresses {
  database: Database;
  catalogs: CatalogSet;
}

/** `GET /api/events`. */
export function eventListRoutes({ database, catalogs, ...addresses }: EventListDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events', async (c) => {
    const { principal, version } = c.var;
    const query = EventListQuery.parse(c.req.query());
    const action = query.onlyWithWriteAccess ? 'write' : 'read';
    const order = orderOf(parseSort(c.req.query('sort')), EVENT_SORTS);
    const filters = c.req.queries('filter') ?? [];
    const list = eventList({ database, principal, action, filters, order, version });
    const page = parsePage(c.req.query(), order, undefined);
    return answerList(c, `${addresses.publicUrl}/api/events`, page, {
      order,
      find: (slice) => findPart(database, list, slice),
      json: async (events) => {
        const extras = await loadExtras(database, events, query, { ...addresses, version, catalogs });
        return events.map((event) => eventJson(event, version, extras(event.id)));
      },
    });
  });

  return app;
}
