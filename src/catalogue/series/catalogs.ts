import type { CatalogValues, MetadataCatalog } from '#metadata/catalog.ts';
import { saveCatalogs, storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { seriesColumns, seriesValues } from './columns.ts';
import type { SeriesRow } from './json.ts';

/** A catalog of a series with its values. */
export type FilledCatalog = [catalog: MetadataCatalog, values: CatalogValues];

/** All catalogs of a series in the order of the configuration; those never stored are empty. */
export async function catalogsOf(db: Queryable, series: SeriesRow, catalogs: CatalogSet): Promise<FilledCatalog[]> {
  const stored = (await storedCatalogs(db, 'series', [series.id])).get(series.id);
  return catalogs.all.map((catalog) => [
    catalog,
    catalog === catalogs.common ? seriesValues(series) : (stored?.get(catalog.flavor) ?? new Map()),
  ]);
}

/** Stores the given values of a series, by flavor; those not given stay. The caller has locked the series. */
export async function saveSeriesCatalogs(
  trx: Transaction,
  id: string,
  changes: ReadonlyMap<string, CatalogValues>,
  { common }: CatalogSet,
): Promise<void> {
  const columns = seriesColumns(changes.get(common.flavor) ?? new Map());
  if (Object.keys(columns).length > 0) {
    await trx.updateTable('series').set(columns).where('id', '=', id).execute();
  }
  await saveCatalogs(trx, 'series', id, new Map([...changes].filter(([flavor]) => flavor !== common.flavor)));
}
