import { z } from 'zod';
import { PageQuery } from '../http/list/index.ts';
import { SERIES_LIST } from '../series/list.ts';
import { SeriesListQuery, SeriesSearchQuery } from '../series/query.schemas.ts';
import { filterHelp, sortParameter } from './list-parameters.ts';

/** Which series to list, in which order, and what else to answer of each. */
export const SERIES_LIST_QUERY = z.object({
  filter: z
    .string()
    .optional()
    .meta({
      description: `${filterHelp(SERIES_LIST)} \`creationDate\` takes a period of time, \`from/to\`.`,
      example: 'title:Analysis I',
    }),
  sort: sortParameter(SERIES_LIST, 'title:ASC'),
  ...PageQuery.shape,
  ...SeriesListQuery.shape,
});

/** The older search, with the other name of `limit`. */
export const SERIES_SEARCH_QUERY = z.object({
  ...SeriesSearchQuery.shape,
  count: PageQuery.shape.limit,
  offset: PageQuery.shape.offset,
  cursor: PageQuery.shape.cursor,
});
