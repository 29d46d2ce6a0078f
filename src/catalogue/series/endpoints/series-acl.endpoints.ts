import { z } from 'zod';
import { aclsOf, requireAccess } from '#access/acl/acl.queries.ts';
import { ACL, Acl, StrictAcl } from '#access/acl/acl.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { atLeast, mediaType, versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { jsonText } from '#platform/http/endpoint/endpoint-schemas.ts';
import { AclEcho, Override, SERIES_PARAMETERS } from '../series.schemas.ts';
import { parseSeriesAcl, replaceSeriesAcl } from '../series-acl.ts';
import { ACL_MISSING, ACL_UNPARSABLE, GONE, SERIES_MISSING } from '../series-refusals.ts';
import { seriesParams } from './series.endpoints.ts';

interface Services {
  database: Database;
}

export const readSeriesAcl = defineEndpoint({
  method: 'get',
  path: '/api/series/{series_id}/acl',
  access: apiRole('SERIES_ACL_VIEW'),
  summary: "Read a series' access control list",
  description: 'Events of the series that have no list use it as well.',
  params: seriesParams,
  answers: { 200: { description: 'The list.', body: Acl, example: ACL } },
  refusals: [SERIES_MISSING],
  handle: async ({ c, params }, { database }: Services) => {
    const id = params.series_id;
    await requireAccess(database, 'series', c.var.principal, id, 'read', SERIES_MISSING);
    return versionedJson(c, (await aclsOf(database, 'series', [id])).get(id) ?? []);
  },
});

export const putSeriesAcl = defineEndpoint({
  method: 'put',
  path: '/api/series/{series_id}/acl',
  access: apiRole('SERIES_ACL_EDIT'),
  summary: "Replace a series' access control list",
  description: 'Removes all entries of the present list.',
  params: seriesParams,
  form: {
    schema: z.object({ acl: jsonText(StrictAcl, 'The new list.'), override: Override }),
    example: { acl: JSON.stringify(ACL) },
  },
  answers: { 200: { description: 'The list as it was sent.', body: AclEcho, example: ACL } },
  refusals: [ACL_MISSING, ACL_UNPARSABLE, GONE],
  handle: async ({ c, params, form }, { database }: Services) => {
    const { principal, version } = c.var;
    const id = params.series_id;
    const { acl, override } = await form();
    const entries = parseSeriesAcl(acl);
    const overrides = override && atLeast(version, SERIES_PARAMETERS.override);
    await inTransaction(database, (trx) => replaceSeriesAcl(trx, { principal, id, entries, override: overrides }));
    // Clients compare the answer with the list that they sent.
    return c.body(acl, 200, { 'Content-Type': mediaType(version), Vary: 'Accept' });
  },
});
