import { accessCondition } from '#access/acl/acl.queries.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ORGANIZATION } from '#access/roles/roles.ts';
import { SERIES_ID } from '#catalogue/series/series-examples.ts';
import { SERIES_LIST } from '#catalogue/series/series-list.ts';
import type { SeriesRow } from '#catalogue/series/series-queries.ts';
import { formatInstant } from '#metadata/date-time.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_WHOLE_NUMBER } from '#platform/http/endpoint/endpoint-schemas.ts';
import { SearchQuery, search, searchAnswer, searchAnswers, sortOf } from './search-page.ts';

/** The criteria of the list of series by those of the search. */
const CRITERIA = {
  ...{ title: 'title', creator: 'creator', contributor: 'contributors' },
  ...{ created: 'created', modified: 'created', date_created: 'created', date_modified: 'created' },
};
const EXAMPLE = { id: SERIES_ID, dc: { title: ['Algebra I'] } };

/** Searches series. */
export const searchForSeries = defineEndpoint({
  method: 'get',
  path: '/search/series.json',
  operationId: 'searchForSeries',
  access: apiRole('SERIES_VIEW'),
  summary: 'Search series, for players',
  description: 'Series that the account may read, the latest first.',
  query: SearchQuery,
  answers: searchAnswers(EXAMPLE),
  refusals: [NO_WHOLE_NUMBER],
  handle: async ({ c, query }, { database }: { database: Database }) => {
    const { id, q, sort, ...page } = query();
    const access = accessCondition('series', c.var.principal, 'read');
    const criteria = { ...(id && { identifier: id.trim() }), ...(q && { textFilter: q }) };
    const found = await search(database, SERIES_LIST, { access, criteria, sort: sortOf(sort, CRITERIA) }, page);
    return c.json(searchAnswer(found, found.rows.map(foundSeries)));
  },
});

function foundSeries({ id, title, created, organizers, contributors, subjects, description }: SeriesRow) {
  const at = formatInstant(created);
  const dc = { identifier: [id], title: [title], creator: organizers, contributor: contributors, subject: subjects };
  return {
    ...{ id, org: ORGANIZATION.id, dc: { ...dc, description: [description], created: [at] } },
    ...{ dcTitle: title, dcCreator: organizers.join(', '), dcCreated: at, mediaType: 'Series', modified: at },
  };
}
