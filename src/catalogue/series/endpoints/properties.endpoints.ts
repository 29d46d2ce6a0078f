import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { mediaType, versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { jsonText } from '#platform/http/endpoint/schemas.ts';
import { PropertiesEcho, PropertiesRequest, SeriesProperties } from '../properties.schemas.ts';
import { mergeProperties, parseProperties } from '../properties.ts';
import { findProperties } from '../queries.ts';
import { ACL_MISSING, AN_SERIES_MISSING, GONE, PROPERTIES_UNPARSABLE } from '../refusals.ts';
import { seriesParams } from './series.endpoints.ts';

const PROPERTIES = { theme: '3', live: 'false' };

interface Services {
  database: Database;
}

export const readProperties = defineEndpoint({
  method: 'get',
  path: '/api/series/{series_id}/properties',
  access: apiRole('SERIES_PROPERTIES_VIEW'),
  summary: 'Read the properties of a series',
  description: 'Whatever clients have noted of it.',
  params: seriesParams,
  answers: { 200: { description: 'The properties.', body: SeriesProperties, example: PROPERTIES } },
  refusals: [AN_SERIES_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const properties = await findProperties(database, params.series_id, c.var.principal);
    if (!properties) throw AN_SERIES_MISSING(params.series_id);
    return versionedJson(c, properties);
  },
});

export const putProperties = defineEndpoint({
  method: 'put',
  path: '/api/series/{series_id}/properties',
  access: apiRole('SERIES_PROPERTIES_EDIT'),
  summary: 'Set properties of a series',
  description: 'Others stay.',
  params: seriesParams,
  form: {
    schema: z.object({ properties: jsonText(PropertiesRequest, 'Text by name.') }),
    example: { properties: JSON.stringify(PROPERTIES) },
  },
  answers: {
    200: { description: 'The properties as they were sent.', body: PropertiesEcho, example: PROPERTIES },
  },
  refusals: [ACL_MISSING, PROPERTIES_UNPARSABLE, GONE],
  handle: async ({ c, params, fields }, { database }: Services) => {
    const { principal } = c.var;
    const text = (await fields()).get('properties') ?? '';
    const changes = parseProperties(text);
    await inTransaction(database, (trx) =>
      mergeProperties(trx, { principal, id: params.series_id, changes }),
    );
    // As it was sent: a value that is no string stays what it is, although it is stored as one.
    return c.body(text, 200, { 'Content-Type': mediaType(c.var.version), Vary: 'Accept' });
  },
});
