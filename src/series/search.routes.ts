import { Hono } from 'hono';
import { mayAccess } from '../access/acl.queries.ts';
import { listOf } from '../database/list/condition.ts';
import { findPart } from '../database/list/find.ts';
import { answerList } from '../http/list/answer-list.ts';
import type { FilterPart } from '../http/list/filter-grammar.ts';
import { conditionsOf } from '../http/list/filter-set.ts';
import { parsePage } from '../http/list/page-request.ts';
import { isStandard, orderOf, parseSort } from '../http/list/sort-grammar.ts';
import { seriesListJson } from './json.ts';
import { SERIES_FILTERS } from './list/filters.ts';
import type { SeriesListDependencies } from './list/list.routes.ts';
import { SERIES_SORTS } from './list/sorts.ts';
import { shownSeries } from './queries.ts';
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
    const action = query.edit ? 'write' : 'read';
    const order = orderOf(parseSort(modernSort(query.sort)), SERIES_SORTS);
    const list = listOf({
      table: 'series',
      order,
      shown: (id) => shownSeries(database, id),
      isDefaultOrder: isStandard(order, SERIES_SORTS),
      groups: [conditionsOf(filterParts(query), (name) => SERIES_FILTERS[name])],
      access: principal.isAdmin() ? undefined : mayAccess('series', principal, action),
    });
    const page = parsePage({ ...c.req.query(), limit: c.req.query('count') ?? '' }, order, DEFAULT_COUNT);
    return answerList(c, `${publicUrl}${path}`, page, {
      order,
      find: (slice) => findPart(database, list, slice),
      json: async (rows) => rows.map((series) => seriesListJson(series, version)),
    });
  });
}

function filterParts(query: SeriesSearchQuery): FilterPart[] {
  const parts = Object.entries(FILTERS).flatMap(([parameter, name]) => {
    const value = query[parameter as keyof typeof FILTERS];
    return value ? [{ name, value }] : [];
  });
  const { createdfrom, createdto } = query;
  if (!createdfrom && !createdto) return parts;
  return [...parts, { name: 'CreationDate', value: `${createdfrom || EARLIEST}/${createdto || LATEST}` }];
}

/** `TITLE_DESC`, as older servers have it, is `title:DESC`. */
function modernSort(sort: string | undefined): string | undefined {
  const [, name, descending] = /^([A-Za-z]+?)(_DESC)?$/i.exec(sort ?? '') ?? [];
  return name ? `${name.toLowerCase()}:${descending ? 'DESC' : 'ASC'}` : sort;
}
