import type { Principal } from '#access/principal.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import type { Refusal } from '#platform/http/errors/refusal.ts';
import { catalogsOf, type FilledCatalog, saveSeriesCatalogs } from './catalogs.ts';
import { recordChange } from './changes.ts';
import { findSeries, lockSeries } from './queries.ts';
import { SERIES_MISSING } from './refusals.ts';

/** What to change in the metadata of a series. */
export interface MetadataUpdate {
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
