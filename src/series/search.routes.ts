import { Hono } from 'hono';
import { answerList } from '../http/list/index.ts';
import type { SeriesListDependencies } from './list.routes.ts';
import { accessibleSeries, SERIES_LIST, seriesRowsJson } from './list.ts';
import { SeriesSearchQuery } from './query.schemas.ts';

const DEFAULT_COUNT = 100;
const EARLIEST = '0001-01-01T00:00:00Z';
const LATEST = '9999-12-30T00:00:00Z';

/** The filter of the list of series that each parameter stands for. */
const FILTERS = {
  q: 'textFilter',
  seriesId: 'identifier',
  seriesTitle: 'title',
  creator: 'organizers',
  contributor: 'contributors',
  publisher: 'publishers',
  rightsholder: 'rightsholder',
  language: 'language',
  license: 'license',
  subject: 'subject',
  description: 'description',
} as const satisfies { [parameter in keyof SeriesSearchQuery]?: string };

/**
 * `GET /api/series/series.json`: the list of series under older names of its parameters (compatibility 4.10). It has to
 * be registered before `/api/series/{id}`.
 */
export function seriesSearchRoutes({ publicUrl, database }: SeriesListDependencies): Hono {
  const path = '/api/series/series.json';
  return new Hono({ strict: false }).get(path, (c) => {
    const { principal, version } = c.var;
    const query = SeriesSearchQuery.parse(c.req.query());
    return answerList(c, SERIES_LIST, {
      database,
      url: `${publicUrl}${path}`,
      access: accessibleSeries(principal, query.edit ? 'write' : 'read'),
      sort: modernSort(query.sort),
      criteria: criteriaOf(query),
      page: { ...c.req.query(), limit: c.req.query('count') ?? '' },
      defaultLimit: DEFAULT_COUNT,
      json: (series) => seriesRowsJson(database, series, version, { withacl: false }),
    });
  });
}

/** The values by the names of the list's filters. */
function criteriaOf(query: SeriesSearchQuery): Record<string, string> {
  const given = Object.entries(FILTERS).flatMap(([parameter, name]) => {
    const value = query[parameter as keyof typeof FILTERS];
    return value ? [[name, value]] : [];
  });
  const { createdfrom, createdto } = query;
  const period = (createdfrom || createdto) && `${createdfrom || EARLIEST}/${createdto || LATEST}`;
  return { ...Object.fromEntries(given), ...(period && { CreationDate: period }) };
}

/** `TITLE_DESC`, as older servers have it, is `title:DESC`. */
function modernSort(sort: string | undefined): string | undefined {
  const [, name, descending] = /^([A-Za-z]+?)(_DESC)?$/i.exec(sort ?? '') ?? [];
  return name ? `${name.toLowerCase()}:${descending ? 'DESC' : 'ASC'}` : sort;
}
