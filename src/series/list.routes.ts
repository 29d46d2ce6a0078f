import { Hono } from 'hono';
import type { Database } from '../database/kysely.ts';
import { answerList } from '../http/list/index.ts';
import { accessibleSeries, SERIES_LIST, seriesRowsJson } from './list.ts';
import { SeriesListQuery } from './query.schemas.ts';

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

  app.get('/api/series', (c) => {
    const { principal, version } = c.var;
    const query = SeriesListQuery.parse(c.req.query());
    return answerList(c, SERIES_LIST, {
      database,
      url: `${publicUrl}/api/series`,
      access: accessibleSeries(principal, query.onlyWithWriteAccess ? 'write' : 'read'),
      sort: c.req.query('sort'),
      filters: [c.req.query('filter') ?? ''],
      defaultLimit: DEFAULT_LIMIT,
      json: (series) => seriesRowsJson(database, series, version, query),
    });
  });

  return app;
}
