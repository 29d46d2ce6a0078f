import type { Selectable } from 'kysely';
import type { Principal } from '#access/principal.ts';
import type { CatalogValues, MetadataCatalog } from '#metadata/catalog.ts';
import { saveCatalogs, storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { type Columns, givenColumns, textIn, valuesOf } from '#metadata/columns.ts';
import { UNPARSABLE_METADATA, unfit } from '#metadata/refusals.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import type { Series } from '#platform/database/schema.ts';
import type { Refusal } from '#platform/http/errors/refusal.ts';
import { SERIES_MISSING } from './refusals.ts';
import { findSeries, lockSeries, recordChange, type SeriesRow } from './series-queries.ts';

/** A path would lose one that is only dots, and `series.json` is the older list of series. */
const IDENTIFIER = /^(?!(?:\.\.?|series\.json)$)[A-Za-z0-9._~:@-]{1,255}$/;

/** The columns of a series that its default catalog fills. */
type MetadataColumns = Columns<(typeof SERIES_CORE_FIELDS)[number]>;

/** The columns that the given values of `dublincore/series` change; fields that only the server sets change nothing. */
export function seriesColumns(values: CatalogValues): Partial<MetadataColumns> {
  return givenColumns(SERIES_CORE_FIELDS, values);
}

/** The values of `dublincore/series` of a series, by field. */
function seriesValues(series: MetadataColumns & Pick<Selectable<Series>, 'id' | 'creator'>): CatalogValues {
  return valuesOf(SERIES_CORE_FIELDS, series).set('createdBy', series.creator).set('identifier', series.id);
}

/** The identifier a client chose, if it did. @throws {HttpError} 400 */
export function chosenIdentifier(values: CatalogValues): string | undefined {
  const id = textIn(values, 'identifier');
  if (id === '') return undefined;
  if (IDENTIFIER.test(id)) return id;
  throw UNPARSABLE_METADATA('series', unfit('identifier', id, '1 to 255 letters, digits and . _ ~ : @ -'));
}

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

/** What to change in the metadata of a series. */
interface MetadataUpdate {
  principal: Principal;
  id: string;
  /**
   * Gives the values to be set, by flavor. It is asked once the series is locked, so that what it refuses comes after
   * the refusals of the series itself.
   */
  changes(trx: Transaction): Promise<ReadonlyMap<string, CatalogValues>>;
  catalogs: CatalogSet;
  /** The refusal of a series that is not there; the usual one unless given. */
  missing?: Refusal | Refusal<[string]>;
}

/**
 * Sets values of a series; those not given stay.
 *
 * @returns all catalogs as they are now
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export async function updateMetadata(
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
