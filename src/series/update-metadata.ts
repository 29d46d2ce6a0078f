import type { Principal } from '../access/principal.ts';
import type { Transaction } from '../database/kysely.ts';
import { notFound } from '../http/errors.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { catalogsOf, type FilledCatalog, saveCatalogs } from './catalogs.ts';
import { findSeries, lockSeries } from './queries.ts';

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
  /** The sentence of the 404; the usual one unless given. */
  missing?: string;
}

/**
 * Sets values of a series; those not given stay.
 *
 * @returns all catalogs as they are now
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read
 */
export async function updateMetadata(
  trx: Transaction,
  { principal, id, changes, catalogs, missing }: MetadataUpdate,
): Promise<FilledCatalog[]> {
  await lockSeries(trx, principal, id, missing);
  await saveCatalogs(trx, id, await changes(trx), catalogs);
  const series = await findSeries(trx, id, principal);
  if (!series) throw notFound(missing);
  return catalogsOf(trx, series, catalogs);
}

/** 404 for a flavor that is not configured, or a catalog that was never stored. */
export function noCatalog(type: string, id: string) {
  return notFound(`Cannot find a catalog with type '${type}' for series with id '${id}'.`);
}
