import { Hono } from 'hono';
import { aclsOf } from '../../access/acl.queries.ts';
import type { Database } from '../../database/kysely.ts';
import { findPart } from '../../database/list/find.ts';
import { answerList } from '../../http/list/answer-list.ts';
import { parsePage } from '../../http/list/page-request.ts';
import { orderOf, parseSort } from '../../http/list/sort-grammar.ts';
import { seriesListJson } from '../json.ts';
import { SeriesListQuery } from '../query.schemas.ts';
import { seriesList } from './series-list.ts';
import { SERIES_SORTS } from './sorts.ts';

/** The size of a page nobody has chosen (compatibility 4.2). */
const DEFAULT_LIMIT = 100;

export interface SeriesListDependencies {
  /** Base of the URLs handed out, without a slash at its end. */
  publicUrl: string;
  database: Database;
}

/** `GET /api/series`. */
export function seriesListRoutes({ publicUrl, database }: SeriesListDependencies): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/series', async (c) => {
    const { principal, version } = c.var;
    const query = SeriesListQuery.parse(c.req.query());
    const action = query.onlyWithWriteAccess ? 'write' : 'read';
    const order = orderOf(parseSort(c.req.query('sort')), SERIES_SORTS);
    const list = seriesList({ database, principal, action, filter: c.req.query('filter'), order, version });
    const page = parsePage(c.req.query(), order, DEFAULT_LIMIT);
    return answerList(c, `${publicUrl}/api/series`, page, {
      order,
      find: (slice) => findPart(database, list, slice),
      json: async (series) => {
        const ids = series.map(({ id }) => id);
        const acls = query.withacl ? await aclsOf(database, 'series', ids) : undefined;
        return series.map((each) => seriesListJson(each, version, acls && { acl: acls.get(each.id) ?? [] }));
      },
    });
  });

  return app;
}
