import type { Principal } from '#access/principal.ts';
import type { CatalogValues, MetadataCatalog } from '#metadata/catalog.ts';
import { saveCatalogs, storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { givenColumns, textIn, valuesOf } from '#metadata/core-fields.ts';
import { invalidValueReason, UNPARSABLE_METADATA } from '#metadata/metadata-refusals.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Refusal } from '#platform/http/errors/errors.ts';
import { findSeries, lockSeries, recordChange, type SeriesRow } from './series-queries.ts';
import { SERIES_MISSING } from './series-refusals.ts';

/** Rejects `.` and `..`, which would change the path of a URL, and `series.json`, which is the path of the older list. */
const IDENTIFIER = /^(?!(?:\.\.?|series\.json)$)[A-Za-z0-9._~:@-]{1,255}$/;

/** Returns the columns that values of `dublincore/series` change, without those of read-only fields. */
export function seriesColumns(values: CatalogValues) {
  return givenColumns(SERIES_CORE_FIELDS, values);
}

/** Returns the identifier that a client chose, if any. @throws {HttpError} 400 */
export function chosenIdentifier(values: CatalogValues): string | undefined {
  const id = textIn(values, 'identifier');
  if (id === '') return undefined;
  if (IDENTIFIER.test(id)) return id;
  throw UNPARSABLE_METADATA('series', invalidValueReason('identifier', id, '1 to 255 letters, digits and . _ ~ : @ -'));
}

/** A catalog of a series with its values. */
export type FilledCatalog = [catalog: MetadataCatalog, values: CatalogValues];

/** Returns all catalogs of a series. Those never stored are empty. */
export async function catalogsOf(db: Queryable, series: SeriesRow, catalogs: CatalogSet): Promise<FilledCatalog[]> {
  const stored = (await storedCatalogs(db, 'series', [series.id])).get(series.id);
  const common = valuesOf(SERIES_CORE_FIELDS, series).set('createdBy', series.creator).set('identifier', series.id);
  return catalogs.all.map((catalog) => [
    catalog,
    catalog === catalogs.common ? common : (stored?.get(catalog.flavor) ?? new Map()),
  ]);
}

/** Stores values of a locked series, by flavor. Missing fields keep their values. */
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

interface MetadataUpdate {
  principal: Principal;
  id: string;
  /** Returns the new values by flavor. Called after the lock, so that its refusals follow those of the series. */
  changes(trx: Transaction): Promise<ReadonlyMap<string, CatalogValues>>;
  catalogs: CatalogSet;
  missing?: Refusal | Refusal<[string]>;
}

/**
 * Updates the metadata of a series. Missing fields keep their values.
 *
 * @returns all catalogs after the change
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export async function updateSeriesMetadata(
  trx: Transaction,
  { principal, id, changes, catalogs, missing = SERIES_MISSING }: MetadataUpdate,
): Promise<FilledCatalog[]> {
  await lockSeries(trx, principal, id, missing);
  await saveSeriesCatalogs(trx, id, await changes(trx), catalogs);
  await recordChange(trx, { id, principal, part: 'metadata' });
  const series = await findSeries(trx, id, principal);
  if (!series) throw missing(id);
  return catalogsOf(trx, series, catalogs);
}
