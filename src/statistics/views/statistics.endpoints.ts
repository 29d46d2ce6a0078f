import { z } from 'zod';
import { UNAUTHORIZED } from '#access/access-errors.ts';
import { requireAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ORGANIZATION } from '#access/roles/roles.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import { formatInstant } from '#metadata/date-time.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { flag, jsonText, PAGE, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { EXPORT_TOO_LARGE, exportViews } from './export-views.ts';
import { PARAMETERS, PROVIDERS, StatisticsProvider } from './providers.ts';
import {
  type ParsedQuery,
  parseQueries,
  parseQuery,
  StatisticsQueries,
  StatisticsQuery,
  UNPARSABLE_QUERY,
} from './statistics-query.ts';
import { periodsOf, RESOURCE_TYPES, viewsOf } from './time-series.queries.ts';

interface Services {
  database: Database;
  catalogs: Catalogs;
  config: Pick<Config, 'statistics'>;
}

const MAX_SHOWN = 200;

const UNKNOWN_TYPE = refusal(400, `Invalid value for 'resourceType'; allowed are ${RESOURCE_TYPES.join(', ')}`);
const UNKNOWN_FILTER = refusal(400, 'Unknown filter; allowed is resourceType');
const NO_SUCH_PROVIDER = refusal(
  404,
  (id: string) => `Cannot find a statistics provider with id '${id.slice(0, MAX_SHOWN)}'.`,
  ['unknown'],
);

const withparameters = flag('Include the parameters of queries.');
const EXAMPLE_PROVIDER = { ...PROVIDERS[0], parameters: PARAMETERS };
const EXAMPLE_PARAMETERS = {
  resourceId: 'f5f1f2f3-1d0e-4b44-9f3c-0d4b5a1f2e11',
  from: '2026-04-13T13:45:32Z',
  to: '2026-04-14T00:00:00Z',
  dataResolution: 'daily',
};
const { title: _, description: __, ...SHOWN_PROVIDER } = StatisticsProvider.omit({ parameters: true }).shape;

const shown = (provider: StatisticsProvider, query: { withparameters: boolean }): StatisticsProvider =>
  query.withparameters ? { ...provider, parameters: PARAMETERS } : provider;

export const listStatisticsProviders = defineEndpoint({
  method: 'get',
  path: '/api/statistics/providers',
  since: '1.3.0',
  access: apiRole('STATISTICS_VIEW'),
  summary: 'List statistics providers',
  description: 'Empty if the site counts no views.',
  query: z.object({
    filter: z.string().optional().meta({
      description: '`resourceType:episode`, `resourceType:series` or `resourceType:organization`.',
      example: 'resourceType:episode',
    }),
    withparameters,
  }),
  answers: { 200: { description: 'The providers.', body: z.array(StatisticsProvider), example: [EXAMPLE_PROVIDER] } },
  refusals: [UNKNOWN_FILTER, UNKNOWN_TYPE],
  handle: ({ c, query }, { config }: Services) => {
    const { filter = '', ...options } = query();
    const type = typeIn(filter);
    const offered = config.statistics.isEnabled ? PROVIDERS : [];
    const found = offered.filter(({ resourceType }) => type === undefined || resourceType === type);
    return versionedJson(
      c,
      found.map((provider) => shown(provider, options)),
    );
  },
});

/** Returns the resource type in a filter. Parts that are not a name and a value are ignored. */
function typeIn(filter: string): string | undefined {
  const parts = filter.split(',').flatMap((part) => [part.split(':')].filter(({ length }) => length === 2));
  if (parts.some(([name]) => name !== 'resourceType')) throw UNKNOWN_FILTER();
  const types = parts.map(([, value = '']) => value.trim().toLowerCase()).filter((type) => type !== '');
  if (types.some((type) => !RESOURCE_TYPES.some((each) => each === type))) throw UNKNOWN_TYPE();
  return types.at(-1);
}

export const readStatisticsProvider = defineEndpoint({
  method: 'get',
  path: '/api/statistics/providers/{provider_id}',
  since: '1.3.0',
  access: apiRole('STATISTICS_VIEW'),
  summary: 'Read a statistics provider',
  params: { provider_id: pathParameter('Identifier of the provider.', 'episode.views.sum') },
  query: z.object({ withparameters }),
  answers: { 200: { description: 'The provider.', body: StatisticsProvider, example: EXAMPLE_PROVIDER } },
  refusals: [NO_SUCH_PROVIDER],
  handle: ({ c, params, query }, { config }: Services) => {
    const id = params.provider_id;
    const provider = config.statistics.isEnabled ? PROVIDERS.find(({ identifier }) => identifier === id) : undefined;
    if (!provider) throw NO_SUCH_PROVIDER(id);
    return versionedJson(c, shown(provider, query()));
  },
});

export const queryStatistics = defineEndpoint({
  method: 'post',
  path: '/api/statistics/data/query',
  since: '1.3.0',
  access: apiRole('STATISTICS_VIEW'),
  summary: 'Query statistics',
  description:
    'Returns the views of events, of series (of the events that the account may read) and, for administrators, of the organization. Views are counted by hour; the hours of `from` and of `to` count as a whole. Periods begin in the time zone of the server.',
  form: {
    schema: z.object({ data: jsonText(StatisticsQueries, 'The queries.') }),
    example: {
      data: JSON.stringify([{ provider: { identifier: 'episode.views.sum' }, parameters: EXAMPLE_PARAMETERS }]),
    },
  },
  answers: {
    200: {
      description: 'The results in the order of the queries.',
      body: z.array(
        z
          .object({
            provider: z.object(SHOWN_PROVIDER),
            parameters: z.looseObject({}),
            data: z.object({
              labels: z.array(z.string()).describe('The start of each period.'),
              values: z.array(z.number()),
              total: z.number(),
            }),
          })
          .meta({ id: 'StatisticsResult' }),
      ),
      example: [
        {
          provider: { identifier: 'episode.views.sum', type: 'timeseries', resourceType: 'episode' },
          parameters: EXAMPLE_PARAMETERS,
          data: { labels: ['2026-04-13T13:45:32Z', '2026-04-14T00:00:00Z'], values: [20, 100], total: 120 },
        },
      ],
    },
  },
  refusals: [UNPARSABLE_QUERY, UNAUTHORIZED],
  handle: async ({ c, form }, { config, database }: Services) => {
    const queries = parseQueries((await form()).data, config.statistics);
    const results = [];
    for (const query of queries) results.push(await resultOf(database, query, c.var.principal));
    return versionedJson(c, results);
  },
});

async function resultOf(database: Database, query: ParsedQuery, principal: Principal) {
  const { provider, resourceId, range, sent } = query;
  await requireResource(database, query, principal);
  const { identifier, type, resourceType } = provider;
  const periods = await periodsOf(database, range);
  const views = await viewsOf(database, { type: resourceType, ids: [resourceId] }, range, principal);
  const values = periods.map((period) => views(resourceId, period));
  const labels = periods.map(({ start }) => formatInstant(start));
  const total = values.reduce((sum, value) => sum + value, 0);
  return { provider: { identifier, type, resourceType }, parameters: sent, data: { labels, values, total } };
}

/** Requires read access to the resource of a query, or an administrator. @throws {HttpError} 401 */
async function requireResource(
  database: Database,
  { provider: { resourceType }, resourceId }: ParsedQuery,
  principal: Principal,
): Promise<void> {
  if (resourceType === 'organization') {
    if (!principal.isAdmin() || resourceId !== ORGANIZATION.id) throw UNAUTHORIZED();
    return;
  }
  const table = resourceType === 'episode' ? 'events' : 'series';
  await requireAccess(database, table, principal, resourceId, 'read', () => UNAUTHORIZED());
}

export const exportStatistics = defineEndpoint({
  method: 'post',
  path: '/api/statistics/data/export.csv',
  since: '1.4.0',
  access: apiRole('STATISTICS_VIEW'),
  summary: 'Export statistics',
  description:
    'Returns CSV (RFC 4180) with a line per resource and period, and with the metadata of the resources. `detailLevel` exports the events of a series, or the events or series of the organization. `filter`, `limit` and `offset` select among these.',
  form: {
    schema: z.object({
      data: jsonText(StatisticsQuery, 'The query.'),
      filter: z.string().optional().describe('As in the lists of events and series.'),
      ...PAGE,
    }),
    example: {
      data: JSON.stringify({ provider: { identifier: 'episode.views.sum' }, parameters: EXAMPLE_PARAMETERS }),
    },
  },
  answers: {
    200: {
      description: 'The CSV.',
      body: z.object({ csv: z.string() }).meta({ id: 'StatisticsExport' }),
      example: { csv: 'ID,title,Date,Value\r\nf5f1f2f3-1d0e-4b44-9f3c-0d4b5a1f2e11,Optics,2026-04-13,20\r\n' },
    },
  },
  refusals: [UNPARSABLE_QUERY, EXPORT_TOO_LARGE, UNAUTHORIZED],
  handle: async ({ c, form }, { config, database, catalogs }: Services) => {
    const { principal, version } = c.var;
    const { data, filter = '', limit, offset = 0 } = await form();
    const query = parseQuery(data, config.statistics);
    await requireResource(database, query, principal);
    const page = { filter, limit, offset };
    return versionedJson(c, { csv: await exportViews(database, { query, principal, version, catalogs, page }) });
  },
});
