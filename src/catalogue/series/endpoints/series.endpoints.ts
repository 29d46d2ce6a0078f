import { z } from 'zod';
import { aclsOf } from '#access/acl/acl.queries.ts';
import { ACL, StrictAcl } from '#access/acl/acl.ts';
import { type Idempotency, REPEATABLE } from '#access/idempotency/idempotency.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import { CatalogsRequest } from '#metadata/metadata.schemas.ts';
import { sentFields } from '#metadata/metadata-declarations.ts';
import { FIELD_UNKNOWN, FLAVOR_UNKNOWN } from '#metadata/metadata-refusals.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { conditionalJson } from '#platform/http/answer/etag.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import {
  Created,
  createdHeaders,
  EXAMPLE_URL,
  jsonText,
  pathParameter,
  TAGGED_HEADERS,
} from '#platform/http/endpoint/endpoint-schemas.ts';
import { createSeries, parseNewSeries } from '../create-series.ts';
import { Series, SeriesQuery, Theme } from '../series.schemas.ts';
import { SERIES, SERIES_FIELDS, SERIES_ID } from '../series-examples.ts';
import { findSeries, lockSeries, removeSeries, seriesJson } from '../series-queries.ts';
import { AN_SERIES_MISSING, IDENTIFIER_TAKEN, METADATA_MISSING, NO_THEME, SERIES_MISSING } from '../series-refusals.ts';

interface SeriesServices {
  config: { publicUrl: string };
  database: Database;
  idempotency: Idempotency;
  catalogs: Pick<Catalogs, 'series'>;
}

/** The path parameter of all endpoints of one series. */
export const seriesParams = { series_id: pathParameter('Identifier of the series.', SERIES_ID) };

/** The form field `metadata` of a series, and an example of it. */
export const seriesMetadata = jsonText(CatalogsRequest, 'Metadata by catalog.');
export const exampleMetadata = JSON.stringify([{ flavor: 'dublincore/series', fields: sentFields(SERIES_FIELDS) }]);

export const newSeries = defineEndpoint({
  method: 'post',
  path: '/api/series',
  access: apiRole('SERIES_CREATE'),
  summary: 'Create a series',
  description: 'The account becomes the creator of the series.',
  repeatable: REPEATABLE,
  form: {
    schema: z.object({
      metadata: seriesMetadata,
      acl: jsonText(StrictAcl, 'The access control list.').optional(),
      theme: Theme.optional(),
    }),
    example: { metadata: exampleMetadata, acl: JSON.stringify(ACL) },
  },
  answers: {
    201: {
      description: 'The series was created.',
      body: Created,
      example: { identifier: SERIES_ID },
      headers: createdHeaders(`${EXAMPLE_URL}/api/series/${SERIES_ID}`),
    },
  },
  refusals: [
    METADATA_MISSING,
    FLAVOR_UNKNOWN.about('series', 'some/flavor'),
    FIELD_UNKNOWN.about('colour', 'dublincore/series'),
    NO_THEME,
    IDENTIFIER_TAKEN,
  ],
  handle: async ({ c, fields }, { config, database, idempotency, catalogs }: SeriesServices) => {
    const { principal, log } = c.var;
    const given = await fields();
    return idempotency.answer(c, { fields: given }, async (remember) => {
      const series = parseNewSeries(given, catalogs.series);
      const { id, answer } = await inTransaction(database, async (trx) => {
        const id = await createSeries(trx, series, principal, catalogs.series);
        const Location = `${config.publicUrl}/api/series/${encodeURIComponent(id)}`;
        const answer = versionedJson(c, { identifier: id }, 201, { Location });
        await remember(trx, answer);
        return { id, answer };
      });
      log.info({ seriesId: id }, 'series created');
      return answer;
    });
  },
});

export const readSeries = defineEndpoint({
  method: 'get',
  path: '/api/series/{series_id}',
  access: apiRole('SERIES_VIEW'),
  summary: 'Read a series',
  description: 'Returns the most used metadata. `/metadata` returns all fields.',
  params: seriesParams,
  query: SeriesQuery,
  answers: {
    200: {
      description: 'The series.',
      body: Series,
      example: { ...SERIES, organization: 'mh_default_org', opt_out: false },
      headers: TAGGED_HEADERS,
    },
    304: { description: 'The series still has this `ETag`.' },
  },
  refusals: [AN_SERIES_MISSING],
  handle: async ({ c, params, query }, { database }: { database: Database }) => {
    const { principal, version } = c.var;
    const id = params.series_id;
    const series = await findSeries(database, id, principal);
    if (!series) throw AN_SERIES_MISSING(id);
    const acls = query().withacl ? await aclsOf(database, 'series', [id]) : undefined;
    return conditionalJson(c, seriesJson(series, version, acls && { acl: acls.get(id) ?? [] }));
  },
});

export const deleteSeries = defineEndpoint({
  method: 'delete',
  path: '/api/series/{series_id}',
  access: apiRole('SERIES_DELETE'),
  summary: 'Delete a series',
  description: 'Its events are kept; they still show the identifier of the series.',
  params: seriesParams,
  answers: { 204: { description: 'The series was deleted.' } },
  refusals: [SERIES_MISSING],
  handle: async ({ c, params }, { database }: { database: Database }) => {
    const { principal, log } = c.var;
    const id = params.series_id;
    await inTransaction(database, async (trx) => {
      await lockSeries(trx, principal, id);
      await removeSeries(trx, id, principal.username);
    });
    log.info({ seriesId: id }, 'series deleted');
    return c.body(null, 204);
  },
});
