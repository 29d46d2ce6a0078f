import type { Queryable, Transaction } from '../database/kysely.ts';
import type { CatalogValues, MetadataCatalog } from '../metadata/catalog.ts';
import { saveCatalog, storedCatalogs } from '../metadata/catalogs.queries.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { seriesColumns, seriesValues } from './columns.ts';
import type { SeriesRow } from './json.ts';

/** A catalog of a series with its values. */
export type FilledCatalog = [catalog: MetadataCatalog, values: CatalogValues];

/** All catalogs of a series in the order of the configuration; those never stored are empty. */
export async function catalogsOf(
  db: Queryable,
  series: SeriesRow,
  catalogs: CatalogSet,
): Promise<FilledCatalog[]> {
  const stored = (await storedCatalogs(db, 'series', [series.id])).get(series.id);
  return catalogs.all.map((catalog) => [
    catalog,
    catalog === catalogs.common ? seriesValues(series) : (stored?.get(catalog.flavor) ?? new Map()),
  ]);
}

/** Stores the given values of a series, by flavor; those not given stay. The caller has locked the series. */
export async function saveCatalogs(
  trx: Transaction,
  id: string,
  changes: ReadonlyMap<string, CatalogValues>,
  catalogs: CatalogSet,
): Promise<void> {
  for (const [flavor, values] of changes) {
    if (flavor === catalogs.common.flavor) await saveCommon(trx, id, values);
    else await saveCatalog(trx, 'series', id, flavor, values);
  }
}

async function saveCommon(trx: Transaction, id: string, values: CatalogValues): Promise<void> {
  const columns = seriesColumns(values);
  if (Object.keys(columns).length === 0) return;
  await trx.updateTable('series').set(columns).where('id', '=', id).execute();
}
