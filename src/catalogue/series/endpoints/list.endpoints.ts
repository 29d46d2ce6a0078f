import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER } from '#platform/http/endpoint/query.schemas.ts';
import {
  filterHelp,
  listHeaders,
  PageQuery,
  respondWithList,
  sortParameter,
  UNKNOWN_FILTER,
  UNKNOWN_SORT,
} from '#platform/http/list/index.ts';
import { SERIES } from '../examples.ts';
import { accessibleSeries, SERIES_LIST, seriesRowsJson } from '../list.ts';
import { UNPARSABLE_START } from '../refusals.ts';
import { SeriesList, SeriesListQuery } from '../series.schemas.ts';

/** The size of a page without `limit` (compatibility 4.2). */
const DEFAULT_LIMIT = 100;

interface Services {
  config: { publicUrl: string };
  database: Database;
}

export const listSeries = defineEndpoint({
  method: 'get',
  path: '/api/series',
  access: apiRole('SERIES_VIEW'),
  summary: 'List series',
  description: 'Returns the series that the account may read, in a stable order: at most 100 without `limit`.',
  query: z.object({
    filter: z
      .string()
      .optional()
      .meta({
        description: `${filterHelp(SERIES_LIST)} \`creationDate\` takes a period \`from/to\`.`,
        example: 'title:Analysis I',
      }),
    sort: sortParameter(SERIES_LIST, 'title:ASC'),
    ...PageQuery.shape,
    ...SeriesListQuery.shape,
  }),
  answers: {
    200: { description: 'A page of series.', body: SeriesList, example: [SERIES], headers: listHeaders('/api/series') },
  },
  refusals: [UNKNOWN_FILTER, UNKNOWN_SORT, UNPARSABLE_START, NO_WHOLE_NUMBER],
  handle: ({ c, query }, { config, database }: Services) => {
    const { principal, version } = c.var;
    const wanted = query();
    return respondWithList(c, SERIES_LIST, {
      database,
      url: `${config.publicUrl}/api/series`,
      access: accessibleSeries(principal, wanted.onlyWithWriteAccess ? 'write' : 'read'),
      sort: wanted.sort,
      filters: [wanted.filter ?? ''],
      defaultLimit: DEFAULT_LIMIT,
      json: (series) => seriesRowsJson(database, series, version, wanted),
    });
  },
});
