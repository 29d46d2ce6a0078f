import type { Principal } from '../access/principal.ts';
import type { Transaction } from '../database/kysely.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import { saveCatalog, storedCatalogs } from '../metadata/catalogs.queries.ts';
import type { CatalogSet } from '../metadata/catalogs.ts';
import { changedColumns, chosenSeries } from './columns.ts';
import type { LockedEvent } from './lock-event.ts';
import { namedPresenters } from './presenters.ts';
import { requireSeries } from './require-series.ts';

/** Values of one or more catalogs by flavor, as they are given: what is not there stays as it is. */
export type GivenCatalogs = ReadonlyMap<string, CatalogValues>;

/** The series that an event is to join by these values, if any. */
export function seriesToJoin(catalogs: GivenCatalogs, { common }: CatalogSet): string | undefined {
  return chosenSeries(catalogs.get(common.flavor) ?? new Map()) ?? undefined;
}

/**
 * Writes the given values to an event.
 *
 * @param event locked together with the series it is to join
 * @returns whether that changed anything
 * @throws {HttpError} 400 for a value that is none of its field, or a series the event cannot join
 */
export async function writeMetadata(
  trx: Transaction,
  event: LockedEvent,
  given: GivenCatalogs,
  { principal, catalogs }: { principal: Principal; catalogs: CatalogSet },
): Promise<boolean> {
  let changed = false;
  for (const [flavor, values] of given) {
    const wrote =
      flavor === catalogs.common.flavor
        ? await writeColumns(trx, event, values, principal)
        : await writeCatalog(trx, event.id, flavor, values);
    changed ||= wrote;
  }
  return changed;
}

async function writeColumns(
  trx: Transaction,
  event: LockedEvent,
  given: CatalogValues,
  principal: Principal,
): Promise<boolean> {
  const presenters = given.get('creator');
  const values = Array.isArray(presenters)
    ? new Map(given).set('creator', await namedPresenters(trx, presenters))
    : given;
  const changes = changedColumns(values, event);
  if (Object.keys(changes).length === 0) return false;
  if (changes.series_id) await requireSeries(trx, changes.series_id, principal);
  await trx.updateTable('events').set(changes).where('id', '=', event.id).execute();
  return true;
}

async function writeCatalog(
  trx: Transaction,
  eventId: string,
  flavor: string,
  values: CatalogValues,
): Promise<boolean> {
  const stored = (await storedCatalogs(trx, 'events', [eventId])).get(eventId)?.get(flavor);
  const same = [...values].every(([id, value]) => JSON.stringify(value) === JSON.stringify(stored?.get(id)));
  if (same) return false;
  await saveCatalog(trx, 'events', eventId, flavor, values);
  return true;
}
