import { z } from 'zod';
import { accessCondition } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { flag } from '#platform/http/endpoint/endpoint-schemas.ts';
import { listDeclaration, listHeaders, PageQuery, respondWithList, UNKNOWN_SORT } from '#platform/http/list/index.ts';
import { SeriesList, SeriesListQuery } from '../series.schemas.ts';
import { SERIES } from '../series-examples.ts';
import { SERIES_LIST, seriesRowsJson } from '../series-list.ts';
import { UNPARSABLE_END, UNPARSABLE_START } from '../series-refusals.ts';

/** The size of a page without `limit` (compatibility 4.2). */
const DEFAULT_LIMIT = 100;
const PAGE = { description: 'A page of series.', body: SeriesList, example: [SERIES] };

interface Services {
  config: { publicUrl: string };
  database: Database;
}

export const listSeries = defineEndpoint({
  method: 'get',
  access: apiRole('SERIES_VIEW'),
  summary: 'List series',
  description: 'Returns the series that the account may read, in a stable order: at most 100 without `limit`.',
  ...listDeclaration(SERIES_LIST, {
    path: '/api/series',
    filter: z.string().optional(),
    filterHint: '`creationDate` takes a period `from/to`.',
    filterExample: 'title:Analysis I',
    sortExample: 'title:ASC',
    flags: SeriesListQuery.shape,
    page: PAGE,
    refusals: [UNPARSABLE_START],
  }),
  handle: ({ c, query }, { config, database }: Services) => {
    const { principal, version } = c.var;
    const wanted = query();
    return respondWithList(c, SERIES_LIST, {
      database,
      url: `${config.publicUrl}/api/series`,
      access: accessCondition('series', principal, wanted.onlyWithWriteAccess ? 'write' : 'read'),
      sort: wanted.sort,
      filters: [wanted.filter ?? ''],
      defaultLimit: DEFAULT_LIMIT,
      json: (series) => seriesRowsJson(database, series, version, wanted),
    });
  },
});

const EARLIEST = '0001-01-01T00:00:00Z';
const LATEST = '9999-12-30T00:00:00Z';

const word = (description: string) => z.string().optional().meta({ description });

/** The filter of the list of series for each parameter, and its description. */
const FILTERS = {
  q: ['textFilter', 'Words in any field.'],
  seriesId: ['identifier', 'The identifier.'],
  seriesTitle: ['title', 'The title.'],
  creator: ['organizers', 'An organizer.'],
  contributor: ['contributors', 'A contributor.'],
  publisher: ['publishers', 'A publisher.'],
  rightsholder: ['rightsholder', 'The rights holder.'],
  language: ['language', 'The language.'],
  license: ['license', 'The license.'],
  subject: ['subject', 'A subject.'],
  description: ['description', 'The description.'],
} as const;

/** The parameters of a search for series. */
const SeriesSearchQuery = z.object({
  ...(Object.fromEntries(Object.entries(FILTERS).map(([name, [, description]]) => [name, word(description)])) as Record<
    keyof typeof FILTERS,
    ReturnType<typeof word>
  >),
  createdfrom: word('The earliest creation, `YYYY-MM-DDThh:mm:ssZ`.'),
  createdto: word('The latest creation, `YYYY-MM-DDThh:mm:ssZ`.'),
  edit: flag('Only series that the account may change.'),
  sort: word('`TITLE`, `CONTRIBUTORS`, `CREATOR` or `CREATED`, with `_DESC` for descending order.'),
});
type SeriesSearchQuery = z.infer<typeof SeriesSearchQuery>;

/** Lists series under the older names of the parameters (compatibility 4.10). Its path also matches that of one series. */
export const searchSeries = defineEndpoint({
  method: 'get',
  path: '/api/series/series.json',
  access: apiRole('SERIES_VIEW'),
  summary: 'Search series',
  description: 'Lists series under the older names of the parameters.',
  query: z.object({
    ...SeriesSearchQuery.shape,
    count: PageQuery.shape.limit,
    offset: PageQuery.shape.offset,
    cursor: PageQuery.shape.cursor,
  }),
  answers: {
    200: { ...PAGE, headers: listHeaders('/api/series/series.json') },
  },
  refusals: [UNPARSABLE_START, UNPARSABLE_END, UNKNOWN_SORT],
  handle: ({ c, query }, { config, database }: Services) => {
    const { principal, version } = c.var;
    const wanted = query();
    return respondWithList(c, SERIES_LIST, {
      database,
      url: `${config.publicUrl}/api/series/series.json`,
      access: accessCondition('series', principal, wanted.edit ? 'write' : 'read'),
      sort: modernSort(wanted.sort),
      criteria: criteriaOf(wanted),
      page: { ...c.req.query(), limit: c.req.query('count') ?? '' },
      defaultLimit: DEFAULT_LIMIT,
      json: (series) => seriesRowsJson(database, series, version, { withacl: false }),
    });
  },
});

/** Converts parameters to filters of the list. */
function criteriaOf(query: SeriesSearchQuery): Record<string, string> {
  const given = Object.entries(FILTERS).flatMap(([parameter, [name]]) => {
    const value = query[parameter as keyof typeof FILTERS];
    return value ? [[name, value]] : [];
  });
  const { createdfrom, createdto } = query;
  const period = (createdfrom || createdto) && `${createdfrom || EARLIEST}/${createdto || LATEST}`;
  return { ...Object.fromEntries(given), ...(period && { CreationDate: period }) };
}

/** Converts `TITLE_DESC` to `title:DESC`. */
function modernSort(sort: string | undefined): string | undefined {
  const [, name, descending] = /^([A-Za-z]+?)(_DESC)?$/i.exec(sort ?? '') ?? [];
  return name ? `${name.toLowerCase()}:${descending ? 'DESC' : 'ASC'}` : sort;
}
