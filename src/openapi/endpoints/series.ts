import { z } from 'zod';
import { StrictAcl } from '../../access/acl.schemas.ts';
import { Created } from '../../events/event.schemas.ts';
import { jsonText } from '../../http/schemas.ts';
import { CatalogJson, CatalogsRequest } from '../../metadata/schemas.ts';
import { SeriesQuery } from '../../series/query.schemas.ts';
import { Series, SeriesList, Theme } from '../../series/series.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { ACL, SERIES, SERIES_CATALOGS, SERIES_FIELDS, SERIES_ID, sent } from '../examples.ts';
import { LIST_HEADERS } from '../list-parameters.ts';
import { CREATED_HEADERS, IDEMPOTENCY_KEY, TAGGED_HEADERS } from '../parameters.ts';
import { SERIES_LIST_QUERY, SERIES_SEARCH_QUERY } from '../series-parameters.ts';

const metadata = jsonText(CatalogsRequest, 'Metadata by catalog.');
const exampleMetadata = JSON.stringify([{ flavor: 'dublincore/series', fields: sent(SERIES_FIELDS) }]);

/** Series themselves. */
export const SERIES_ENDPOINTS: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/series',
    tag: 'Series',
    summary: 'List series',
    description:
      'Those that the account may read, in a stable order; 100 at most unless `limit` asks for more.',
    query: SERIES_LIST_QUERY,
    answers: {
      200: { description: 'A page of series.', body: SeriesList, example: [SERIES], headers: LIST_HEADERS },
    },
    refusals: {
      400: [
        'Unable to parse createdFrom parameter.',
        'The parameter \'limit\' is "ten"; allowed is a whole number from 0 to 9007199254740991.',
      ],
    },
  },
  {
    method: 'post',
    path: '/api/series',
    tag: 'Series',
    summary: 'Create a series',
    description: 'The account becomes its creator.',
    headers: IDEMPOTENCY_KEY,
    form: {
      encoding: 'any',
      schema: z.object({
        metadata,
        acl: jsonText(StrictAcl, 'Who may do what.').optional(),
        theme: Theme.optional(),
      }),
      example: { metadata: exampleMetadata, acl: JSON.stringify(ACL) },
    },
    answers: {
      201: {
        description: 'It has been created.',
        body: Created,
        example: { identifier: SERIES_ID },
        headers: CREATED_HEADERS,
      },
    },
    refusals: {
      400: [
        "Required parameter 'metadata' is missing or invalid",
        "Unable to find an SeriesCatalogUIAdapter with Flavor 'some/flavor'",
        "Cannot find a metadata field with id 'colour' from Catalog with Flavor 'dublincore/series'.",
        "Unable to parse the theme id 'blue' into a number",
      ],
      409: 'A series with this identifier exists.',
      422: 'The Idempotency-Key has been used for another request.',
    },
  },
  {
    method: 'get',
    path: '/api/series/series.json',
    tag: 'Series',
    summary: 'Search series',
    description: 'The list of series by older names of its parameters, for the clients that know only these.',
    query: SERIES_SEARCH_QUERY,
    answers: {
      200: { description: 'A page of series.', body: SeriesList, example: [SERIES], headers: LIST_HEADERS },
    },
    refusals: { 400: 'Unable to parse createdFrom parameter.' },
  },
  {
    method: 'get',
    path: '/api/series/{series_id}',
    tag: 'Series',
    summary: 'Read a series',
    description: 'Its metadata in short; all fields are below `/metadata`.',
    query: SeriesQuery,
    answers: {
      200: {
        description: 'The series.',
        body: Series,
        example: { ...SERIES, organization: 'mh_default_org', opt_out: false },
        headers: TAGGED_HEADERS,
      },
      304: { description: 'It has not changed since the answer with this `ETag`.' },
    },
    refusals: { 404: `Cannot find an series with id '${SERIES_ID}'.` },
  },
  {
    method: 'put',
    path: '/api/series/{series_id}',
    tag: 'Series',
    summary: 'Change the metadata of a series',
    description: 'Fields that are not listed stay; unknown catalogs and fields are ignored.',
    form: { encoding: 'any', schema: z.object({ metadata }), example: { metadata: exampleMetadata } },
    answers: {
      200: {
        description: 'All catalogs of the series.',
        body: z.array(CatalogJson),
        example: SERIES_CATALOGS,
      },
    },
    refusals: {
      400: 'Not able to parse the event metadata: it is not JSON',
      404: 'The resource you requested does not exist.',
    },
  },
  {
    method: 'delete',
    path: '/api/series/{series_id}',
    tag: 'Series',
    summary: 'Delete a series',
    description: 'Its events stay and keep its identifier.',
    answers: { 204: { description: 'It is gone.' } },
    refusals: { 404: `Cannot find a series with id '${SERIES_ID}'.` },
  },
];
