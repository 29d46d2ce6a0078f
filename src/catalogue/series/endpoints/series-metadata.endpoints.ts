import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import { catalogJson, fieldsJson } from '#metadata/catalog-json.ts';
import { deleteCatalog, storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import { withoutUntouched } from '#metadata/core-fields.ts';
import { CatalogJson, CatalogType } from '#metadata/metadata.schemas.ts';
import { changesFields, deletesCatalog, readsCatalogs } from '#metadata/metadata-declarations.ts';
import {
  FIELD_NOT_FOUND,
  FIELD_REQUIRED,
  FULL_UPDATE_UNPARSABLE,
  MANDATORY_CATALOG,
  NO_CATALOG,
  NO_METADATA,
  UNREADABLE_FIELDS,
} from '#metadata/metadata-refusals.ts';
import { parseFieldEntries, parseKnownCatalogs, readFieldEntries, requireValues } from '#metadata/parse-metadata.ts';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { SERIES_CATALOGS, SERIES_FIELDS, SERIES_ID } from '../series-examples.ts';
import { catalogsOf, type FilledCatalog, updateSeriesMetadata } from '../series-metadata.ts';
import { findSeries, lockSeries, recordChange } from '../series-queries.ts';
import { GONE, NO_FLAVOR, SERIES_MISSING, TYPE_MISSING } from '../series-refusals.ts';
import { exampleMetadata, seriesMetadata, seriesParams } from './series.endpoints.ts';

interface Services {
  database: Database;
  catalogs: Pick<Catalogs, 'series'>;
}

const FLAVOR = 'dublincore/series';
const CATALOG_MISSING = NO_CATALOG.about('series', 'some/flavor', SERIES_ID);
const ALL_CATALOGS = {
  200: { description: 'All catalogs after the change.', body: z.array(CatalogJson), example: SERIES_CATALOGS },
};

export const readSeriesMetadata = defineEndpoint({
  method: 'get',
  path: '/api/series/{series_id}/metadata',
  access: apiRole('SERIES_METADATA_VIEW'),
  summary: 'Read the metadata of a series',
  ...readsCatalogs(SERIES_CATALOGS),
  params: seriesParams,
  refusals: [SERIES_MISSING, CATALOG_MISSING],
  handle: async ({ c, params, query }, { database, catalogs }: Services) => {
    const id = params.series_id;
    const { type = '' } = query();
    const series = await findSeries(database, id, c.var.principal);
    if (!series) throw SERIES_MISSING(id);
    const filled = await catalogsOf(database, series, catalogs.series);
    if (type.trim() === '') return versionedJson(c, filled.map(toJson));
    const wanted = catalogs.series.find(type);
    const found = filled.find(([catalog]) => catalog === wanted);
    if (!found) throw NO_CATALOG('series', type, id);
    return versionedJson(c, fieldsJson(...found));
  },
});

export const putSeriesFields = defineEndpoint({
  method: 'put',
  path: '/api/series/{series_id}/metadata',
  access: apiRole('SERIES_METADATA_EDIT'),
  summary: 'Change fields of a catalog of a series',
  ...changesFields(FLAVOR, SERIES_FIELDS),
  params: seriesParams,
  answers: ALL_CATALOGS,
  refusals: [
    NO_METADATA,
    UNREADABLE_FIELDS,
    FIELD_REQUIRED.about('series', 'title', FLAVOR),
    TYPE_MISSING,
    SERIES_MISSING,
    CATALOG_MISSING,
    FIELD_NOT_FOUND.about('colour', SERIES_ID, FLAVOR),
  ],
  handle: async ({ c, params, query, fields }, { database, catalogs }: Services) => {
    const { principal } = c.var;
    const id = params.series_id;
    const { type } = query();
    const entries = parseFieldEntries((await fields()).get('metadata'), 'series');
    if (type.trim() === '') throw TYPE_MISSING(id, 'update');
    const changes = async () => {
      const catalog = catalogs.series.find(type);
      if (!catalog) throw NO_CATALOG('series', type, id);
      const values = readFieldEntries(entries, catalog, { resource: 'series', id, flavor: type });
      return new Map([[catalog.flavor, values]]);
    };
    const filled = await inTransaction(database, (trx) =>
      updateSeriesMetadata(trx, { principal, id, changes, catalogs: catalogs.series }),
    );
    return versionedJson(c, filled.map(toJson));
  },
});

export const deleteSeriesCatalog = defineEndpoint({
  method: 'delete',
  path: '/api/series/{series_id}/metadata',
  access: apiRole('SERIES_METADATA_DELETE'),
  summary: 'Delete a catalog of a series',
  ...deletesCatalog('license/series'),
  params: seriesParams,
  refusals: [
    TYPE_MISSING.about(SERIES_ID, 'delete'),
    NO_FLAVOR,
    MANDATORY_CATALOG.about('series', FLAVOR, SERIES_ID),
    SERIES_MISSING,
    CATALOG_MISSING,
  ],
  handle: async ({ c, params, query }, { database, catalogs }: Services) => {
    const { principal } = c.var;
    const id = params.series_id;
    const { type } = query();
    const { common } = catalogs.series;
    if (type.trim() === '') throw TYPE_MISSING(id, 'delete');
    if (!CatalogType.safeParse(type).success) throw NO_FLAVOR(type, common.flavor);
    const catalog = catalogs.series.find(type);
    if (catalog === common) throw MANDATORY_CATALOG('series', type, id);
    await inTransaction(database, async (trx) => {
      await lockSeries(trx, principal, id);
      const deleted = catalog && (await deleteCatalog(trx, 'series', id, catalog.flavor));
      if (!deleted) throw NO_CATALOG('series', type, id);
      await recordChange(trx, { id, principal, part: 'metadata' });
    });
    return c.body(null, 204);
  },
});

export const putSeries = defineEndpoint({
  method: 'put',
  path: '/api/series/{series_id}',
  access: apiRole('SERIES_EDIT'),
  summary: 'Change the metadata of a series',
  description: 'Missing fields keep their values. Unknown catalogs and fields are ignored.',
  params: seriesParams,
  form: { schema: z.object({ metadata: seriesMetadata }), example: { metadata: exampleMetadata } },
  answers: ALL_CATALOGS,
  refusals: [FULL_UPDATE_UNPARSABLE, GONE],
  handle: async ({ c, params, fields }, { database, catalogs }: Services) => {
    const { principal } = c.var;
    const id = params.series_id;
    const set = catalogs.series;
    const text = (await fields()).get('metadata') ?? '';
    const changes = async (trx: Transaction) => {
      const stored = (await storedCatalogs(trx, 'series', [id])).get(id) ?? new Map();
      const values = withoutUntouched(parseKnownCatalogs(text, set), stored, set.common.flavor);
      requireValues(values, set);
      return values;
    };
    const filled = await inTransaction(database, (trx) =>
      updateSeriesMetadata(trx, { principal, id, changes, catalogs: set, missing: GONE }),
    );
    return versionedJson(c, filled.map(toJson));
  },
});

function toJson([catalog, values]: FilledCatalog): object {
  return catalogJson(catalog, values);
}
