import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { answerList, listHeaders, PageQuery, UNKNOWN_SORT } from '#platform/http/list/index.ts';
import { SERIES } from '../examples.ts';
import { accessibleSeries, SERIES_LIST, seriesRowsJson } from '../list.ts';
import { UNPARSABLE_END, UNPARSABLE_START } from '../refusals.ts';
import { SeriesList, SeriesSearchQuery } from '../series.schemas.ts';

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

interface Services {
  /** Base of the URLs handed out, without a slash at its end. */
  config: { publicUrl: string };
  database: Database;
}

/** The list of series under older names of its parameters (compatibility 4.10). Its path would fit a series as well. */
export const searchSeries = defineEndpoint({
  method: 'get',
  path: '/api/series/series.json',
  access: apiRole('SERIES_VIEW'),
  summary: 'Search series',
  description: 'The list of series by older names of its parameters, for the clients that know only these.',
  query: z.object({
    ...SeriesSearchQuery.shape,
    count: PageQuery.shape.limit,
    offset: PageQuery.shape.offset,
    cursor: PageQuery.shape.cursor,
  }),
  answers: {
    200: {
      description: 'A page of series.',
      body: SeriesList,
      example: [SERIES],
      headers: listHeaders('/api/series/series.json'),
    },
  },
  refusals: [UNPARSABLE_START, UNPARSABLE_END, UNKNOWN_SORT],
  handle: ({ c, query }, { config, database }: Services) => {
    const { principal, version } = c.var;
    const wanted = query();
    return answerList(c, SERIES_LIST, {
      database,
      url: `${config.publicUrl}/api/series/series.json`,
      access: accessibleSeries(principal, wanted.edit ? 'write' : 'read'),
      sort: modernSort(wanted.sort),
      criteria: criteriaOf(wanted),
      page: { ...c.req.query(), limit: c.req.query('count') ?? '' },
      defaultLimit: DEFAULT_COUNT,
      json: (series) => seriesRowsJson(database, series, version, { withacl: false }),
    });
  },
});

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
