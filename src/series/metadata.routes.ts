import { Hono } from 'hono';
import type { Transaction } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { badRequest, forbidden, notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import { deleteCatalog, withoutUntouched } from '../metadata/catalogs.queries.ts';
import { catalogJson, fieldsJson } from '../metadata/json.ts';
import { parseKnownCatalogs, requireValues } from '../metadata/parse.ts';
import { parseFieldEntries, readFieldEntries } from '../metadata/parse-fields.ts';
import { CatalogType } from '../metadata/schemas.ts';
import { catalogsOf, type FilledCatalog } from './catalogs.ts';
import { findSeries, lockSeries } from './queries.ts';
import type { SeriesDependencies } from './series.routes.ts';
import { noCatalog, updateMetadata } from './update-metadata.ts';

/** `/api/series/{id}/metadata` in its forms, and `PUT /api/series/{id}`. Every update answers with all catalogs. */
export function seriesMetadataRoutes({
  database,
  catalogs,
}: Pick<SeriesDependencies, 'database' | 'catalogs'>): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/series/:id/metadata', async (c) => {
    const id = c.req.param('id');
    const type = c.req.query('type') ?? '';
    const series = await findSeries(database, id, c.var.principal);
    if (!series) throw notFound(`Cannot find a series with id '${id}'.`);
    const filled = await catalogsOf(database, series, catalogs);
    if (type.trim() === '') return versionedJson(c, filled.map(toJson));
    const wanted = catalogs.find(type);
    const found = filled.find(([catalog]) => catalog === wanted);
    if (!found) throw noCatalog(type, id);
    return versionedJson(c, fieldsJson(...found));
  });

  app.put('/api/series/:id/metadata', async (c) => {
    const { principal } = c.var;
    const id = c.req.param('id');
    const type = c.req.query('type') ?? '';
    const entries = parseFieldEntries((await readFields(c.req.raw)).get('metadata'), 'series');
    if (type.trim() === '') throw typeMissing(id, 'update');
    const changes = async () => {
      const catalog = catalogs.find(type);
      if (!catalog) throw noCatalog(type, id);
      const values = readFieldEntries(entries, catalog, { resource: 'series', id, flavor: type });
      return new Map([[catalog.flavor, values]]);
    };
    const filled = await inTransaction(database, (trx) =>
      updateMetadata(trx, { principal, id, changes, catalogs }),
    );
    return versionedJson(c, filled.map(toJson));
  });

  app.delete('/api/series/:id/metadata', async (c) => {
    const { principal } = c.var;
    const id = c.req.param('id');
    const type = c.req.query('type') ?? '';
    if (type.trim() === '') throw typeMissing(id, 'delete');
    if (!CatalogType.safeParse(type).success) {
      throw badRequest(
        `Unable to parse flavor '${type}' it should look something like ${catalogs.common.flavor}.`,
      );
    }
    const catalog = catalogs.find(type);
    if (catalog === catalogs.common) {
      throw forbidden(`Unable to delete mandatory metadata catalog with type '${type}' for series '${id}'`);
    }
    await inTransaction(database, async (trx) => {
      await lockSeries(trx, principal, id);
      const deleted = catalog && (await deleteCatalog(trx, 'series', id, catalog.flavor));
      if (!deleted) throw noCatalog(type, id);
    });
    return c.body(null, 204);
  });

  app.put('/api/series/:id', async (c) => {
    const { principal } = c.var;
    const id = c.req.param('id');
    const text = (await readFields(c.req.raw)).get('metadata') ?? '';
    const changes = async (trx: Transaction) => {
      const values = await withoutUntouched(trx, 'series', id, parseKnownCatalogs(text, catalogs), catalogs);
      requireValues(values, catalogs);
      return values;
    };
    const filled = await inTransaction(database, (trx) =>
      updateMetadata(trx, { principal, id, changes, catalogs, missing: notFound().message }),
    );
    return versionedJson(c, filled.map(toJson));
  });

  return app;
}

function toJson([catalog, values]: FilledCatalog): object {
  return catalogJson(catalog, values);
}

function typeMissing(id: string, purpose: 'update' | 'delete') {
  return badRequest(`A type of catalog needs to be specified for series '${id}' to ${purpose} it.`);
}
